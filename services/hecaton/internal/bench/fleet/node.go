package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"strings"
	"time"

	"github.com/coder/websocket"

	"github.com/hecaton-dev/hecaton/pkg/load"
	sdk "github.com/hecaton-dev/hecaton/pkg/node"
	"github.com/hecaton-dev/hecaton/pkg/process/sleep"
	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/bench/plan"
)

// The durations of package node.
const (
	heartbeat  = 20 * time.Second
	silence    = 60 * time.Second
	dialWithin = 15 * time.Second
	writeLimit = 60 * time.Second
	stable     = 10 * time.Second
)

// Places is the max_concurrent_tasks that nodes register with.
const Places = 16

// node is one simulated node. Its goroutine is the only one that reads its socket.
type node struct {
	// Static after construction.
	plan.Node
	fleet *Fleet
	index int
	// away is told to leave, and for how long.
	away chan time.Duration

	// Owned by the node's goroutine.
	server int // how many servers were tried
	known  bool
}

// leave makes the node disconnect and come back after a while. It changes nothing for a node that is about to leave
// already.
func (n *node) leave(away time.Duration) {
	select {
	case n.away <- away:
	default:
	}
}

// live is the life of a node, over all its connections.
func (n *node) live(ctx context.Context) {
	pause := sdk.NewBackoff()
	since := time.Now()
	for ctx.Err() == nil {
		ws, err := n.connect(ctx)
		if err != nil {
			if ctx.Err() == nil {
				n.fleet.failed(causeOf(err), err)
			}
			sleep.For(ctx, pause.Next())
			continue
		}
		n.fleet.arrived(!n.known, time.Since(since))
		n.known = true
		began := time.Now()
		rest, err := n.serve(ctx, ws)
		since = time.Now()
		n.fleet.lost(rest > 0 || ctx.Err() != nil, causeOf(err))
		if since.Sub(began) >= stable {
			pause.Reset()
		}
		if rest == 0 {
			rest = pause.Next()
		}
		sleep.For(ctx, rest)
	}
}

// connect returns a socket on which calls may come.
func (n *node) connect(ctx context.Context) (*websocket.Conn, error) {
	select {
	case n.fleet.dialing <- struct{}{}:
		defer func() { <-n.fleet.dialing }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	ctx, cancel := context.WithTimeout(ctx, dialWithin)
	defer cancel()
	server := n.fleet.o.Servers[(n.index+n.server)%len(n.fleet.o.Servers)]
	n.server++
	ws, err := n.fleet.dial(ctx, server, "/ws/extension", n.User, url.Values{"client_id": {"user_" + n.User}, "node_id": {n.ID}})
	if err != nil {
		return nil, err
	}
	ws.SetReadLimit(sdk.MaxFrameBytes)
	if err := n.register(ctx, ws); err != nil {
		_ = ws.CloseNow() // register's error says more
		return nil, err
	}
	return ws, nil
}

// dial opens a socket of a user.
func (f *Fleet) dial(ctx context.Context, server, path, user string, query url.Values) (*websocket.Conn, error) {
	token, err := f.o.Token(user)
	if err != nil {
		return nil, err
	}
	opts := &websocket.DialOptions{HTTPClient: f.client, HTTPHeader: map[string][]string{}}
	if token != "" {
		opts.HTTPHeader.Set("Authorization", "Bearer "+token)
	}
	ws, resp, err := websocket.Dial(ctx, strings.TrimSuffix(server, "/")+path+"?"+query.Encode(), opts)
	if err != nil && resp != nil && resp.StatusCode != 101 {
		body, _ := io.ReadAll(resp.Body) // the library has cut it to 1 KiB
		return nil, &httpError{resp.StatusCode, strings.TrimSpace(string(body))}
	}
	return ws, err
}

// register sends the registration (docs/protocols/zeus-nodes.md#register) and waits for its confirmation.
func (n *node) register(ctx context.Context, ws *websocket.Conn) error {
	hello, err := load.Registration{
		NodeID: n.ID, NodeName: "Simulated node", NodeType: "extension", OS: "none", AppVersion: "bench",
		Capabilities: []string{}, Tools: n.fleet.o.Tools, Places: Places,
	}.Frame()
	if err != nil {
		return err
	}
	if err := ws.Write(ctx, websocket.MessageText, hello); err != nil {
		return err
	}
	for {
		_, data, err := ws.Read(ctx)
		if err != nil {
			return err
		}
		var answer struct {
			Type    string
			Success bool
			Error   string
		}
		if json.Unmarshal(data, &answer) == nil && answer.Type == "registered" {
			if !answer.Success {
				return errors.Join(errRefused, errors.New(answer.Error))
			}
			return nil
		}
		n.handle(ctx, ws, data) // a node is present, and called, before it has registered
	}
}

// send writes a frame. If that fails it closes the connection, which ends the reader.
func (n *node) send(ctx context.Context, ws *websocket.Conn, frame []byte) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeLimit)
	defer cancel()
	if ws.Write(ctx, websocket.MessageText, frame) != nil {
		_ = ws.CloseNow()
	}
}

// handle takes one frame.
func (n *node) handle(ctx context.Context, ws *websocket.Conn, data []byte) {
	f, err := jsonrpc.Skim(data)
	if err != nil {
		return // a gateway sends none
	}
	switch {
	case string(jsonrpc.Text(f.Method)) == "tools/call":
		n.call(ctx, ws, f)
	case string(jsonrpc.Text(f.Type)) == "ping":
		n.send(ctx, ws, load.Pong)
	case string(jsonrpc.Text(f.Type)) == "get_workflows":
		n.send(ctx, ws, workflows())
	}
}
