package nodes

import (
	"bytes"
	"context"
	"fmt"
	"sync"

	"github.com/hecaton-dev/hecaton/pkg/load"
)

// Visitor is a node that a test controls: it connects, changes its status, and leaves. It answers no calls.
type Visitor struct {
	node *node
	wire *wire
	stop func() bool
	work sync.WaitGroup
}

// Visit connects a node of the Zeus dialect and returns once it is registered. Leave it.
func Visit(ctx context.Context, addr, user, name string) (*Visitor, error) {
	n := &node{dialect: Zeus, user: user, name: name}
	w, err := n.connect(ctx, addr)
	if err != nil {
		return nil, err
	}
	v := &Visitor{node: n, wire: w, stop: context.AfterFunc(ctx, func() { _ = w.Close() })}
	v.work.Go(v.listen)
	return v, nil
}

// listen answers pings until the connection ends.
func (v *Visitor) listen() {
	for {
		frame, err := v.wire.next()
		if err == nil && bytes.Contains(frame, []byte(`"ping"`)) {
			err = v.wire.write(opText, load.Pong)
		}
		if err != nil {
			return
		}
	}
}

// Say sends a heartbeat with a status: online, busy or offline.
func (v *Visitor) Say(status string) error {
	return v.wire.write(opText, fmt.Appendf(nil, `{"type":"heartbeat","status":%q,"current_tasks":0}`, status))
}

// Offer registers the node again, with other tools.
func (v *Visitor) Offer(tools ...string) error {
	hello, err := v.node.register(tools...)
	if err != nil {
		return err
	}
	return v.wire.write(opText, hello)
}

// Leave closes the socket, as a browser that is closed does.
func (v *Visitor) Leave() {
	v.stop()
	_ = v.wire.Close() // whoever leaves does not look back
	v.work.Wait()
}
