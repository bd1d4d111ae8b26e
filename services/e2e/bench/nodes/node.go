package nodes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync/atomic"

	"github.com/hecaton-dev/hecaton/pkg/load"
)

// Dialect is what a pod expects of its nodes.
type Dialect string

const (
	// Zeus nodes register as docs/protocols/zeus-nodes.md#register says.
	Zeus Dialect = "zeus"
	// Bare nodes are those of the relay: they are ready when it says so.
	Bare Dialect = "bare"
)

// Places is the max_concurrent_tasks that nodes register with.
const Places = 64

// node is one simulated node.
type node struct {
	fleet      *Fleet
	dialect    Dialect
	user, name string
	again      bool // it tries again where it is refused, and after its connection's end

	wire atomic.Pointer[wire] // while the node is registered
}

// Name returns the user and the node id of the i-th node of a plan with so many nodes per user.
func Name(i, perUser int) (user, node string) {
	return fmt.Sprintf("bench-%05d", i/perUser), fmt.Sprintf("node-%d", i%perUser)
}

func (n *node) path() string {
	switch n.dialect {
	case Bare:
		return "/node?id=" + url.QueryEscape(n.user+"-"+n.name)
	default:
		return "/ws/extension?client_id=user_" + url.QueryEscape(n.user) + "&node_id=" + url.QueryEscape(n.name)
	}
}

// register returns what the node says of itself, as the sample extension does.
func (n *node) register(tools ...string) ([]byte, error) {
	return load.Registration{
		NodeID: n.name, NodeName: "Chrome Extension", NodeType: "extension", OS: "Linux", AppVersion: "1.0.0",
		Capabilities: []string{"browser_control", "screenshot"}, Tools: tools, Places: Places,
	}.Frame()
}

var errRefused = errors.New("the registration was refused")

// connect opens a socket on which calls may come.
func (n *node) connect(ctx context.Context, addr string) (*wire, error) {
	w, err := dial(ctx, addr, n.path())
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = w.Close() })
	defer stop()
	if err := n.join(w); err != nil {
		_ = w.Close() // join's error says more
		return nil, errors.Join(err, ctx.Err())
	}
	return w, nil
}

// join returns once the node is registered. Calls may come before it knows that: who is connected can be called.
func (n *node) join(w *wire) error {
	var out queue
	if n.dialect == Zeus {
		hello, err := n.register("click", "type", "screenshot", "navigate")
		if err == nil {
			err = w.write(opText, hello)
		}
		if err != nil {
			return err
		}
	}
	for {
		frame, err := w.next()
		switch {
		case err != nil:
			return err
		case callID(frame) != nil && n.fleet != nil:
			out.add(callID(frame), n.fleet.answer.Load())
			if err := out.flush(w); err != nil {
				return err
			}
		case !bytes.Contains(frame, []byte(`"registered"`)):
		case bytes.Contains(frame, []byte(`"success":true`)):
			return nil
		default:
			return errRefused
		}
	}
}

// serve answers calls until the connection ends. What has arrived together is answered together.
func (n *node) serve(ctx context.Context, w *wire) error {
	stop := context.AfterFunc(ctx, func() { _ = w.Close() })
	defer stop()
	defer func() { _ = w.Close() }() // it has ended anyway
	var out queue
	for {
		frame, err := w.next()
		if err != nil {
			return err
		}
		if id := callID(frame); id != nil {
			out.add(id, n.fleet.answer.Load())
		} else if bytes.Contains(frame, []byte(`"ping"`)) {
			if err := w.write(opText, load.Pong); err != nil {
				return err
			}
		}
		if w.idle() {
			if err := out.flush(w); err != nil {
				return err
			}
		}
	}
}
