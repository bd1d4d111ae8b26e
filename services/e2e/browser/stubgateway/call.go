package stubgateway

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"

	"github.com/hecaton-dev/hecaton/services/e2e/browser/tooltest"
)

// ErrClosed is what a call hears when its socket has gone.
var ErrClosed = errors.New("the node's connection has ended")

type answer struct {
	result json.RawMessage
	err    error
}

// response is a JSON-RPC response.
type response struct {
	ID     string          `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *tooltest.Error `json:"error"`
}

// Call runs a tool and waits for its answer: the result member, or *tooltest.Error.
func (n *Node) Call(ctx context.Context, tool string, arguments map[string]any) (json.RawMessage, error) {
	c, err := n.Begin(ctx, tool, arguments)
	if err != nil {
		return nil, err
	}
	return c.Wait(ctx)
}

// Call is a tool call under way.
type Call struct {
	ID      string
	Request map[string]any // the frame that was sent
	answer  chan answer
}

// Begin sends a tool call.
func (n *Node) Begin(ctx context.Context, tool string, arguments map[string]any) (*Call, error) {
	c, err := n.open()
	if err != nil {
		return nil, err
	}
	c.Request = map[string]any{
		"jsonrpc": "2.0", "id": c.ID, "method": "tools/call",
		"params": map[string]any{"name": tool, "arguments": arguments},
	}
	return c, n.Send(ctx, c.Request)
}

func (n *Node) open() (*Call, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.pending == nil {
		return nil, ErrClosed
	}
	c := &Call{ID: rand.Text(), answer: make(chan answer, 1)}
	n.pending[c.ID] = c.answer
	return c, nil
}

// Cancel tells the node that nobody waits for a call any longer.
func (n *Node) Cancel(ctx context.Context, c *Call) error {
	return n.Send(ctx, map[string]any{
		"jsonrpc": "2.0", "method": "notifications/cancelled",
		"params": map[string]any{"requestId": c.ID, "reason": "the caller gave up"},
	})
}

// Wait waits for the answer.
func (c *Call) Wait(ctx context.Context) (json.RawMessage, error) {
	select {
	case a := <-c.answer:
		return a.result, a.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// release ends every call that is still open.
func (n *Node) release() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, waiter := range n.pending {
		waiter <- answer{err: ErrClosed}
	}
	n.pending = nil
	close(n.gone)
}

// resolve gives a response to the call that waits for it.
func (n *Node) resolve(text []byte) {
	var r response
	if err := json.Unmarshal(text, &r); err != nil {
		n.count("malformed")
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	waiter := n.pending[r.ID]
	delete(n.pending, r.ID)
	switch {
	case waiter == nil:
		n.counts["unasked"]++
	case r.Error != nil:
		waiter <- answer{err: r.Error}
	default:
		waiter <- answer{result: r.Result}
	}
}
