package router

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go"
	"go.opentelemetry.io/otel/trace"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/envelope"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/held/calls"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/held/codec"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/frame"
)

// DefaultTimeout is how long a tool call waits where its caller does not say (docs/protocols/zeus-nodes.md#calls).
const DefaultTimeout = 60 * time.Second

// Target says which node is meant (docs/architecture.md#which-node).
type Target struct {
	User ids.UserID
	// Node is the node meant; empty leaves the choice to the session or, without one, to the order of arrival.
	Node ids.NodeID
	// Type is what the node has to be; UNSPECIFIED where either will do.
	Type      nodev1.NodeType
	Session   ids.SessionID
	Preferred ids.NodeID
	// Within are the nodes that the caller may reach.
	Within auth.Nodes
}

// Request is a tool call.
type Request struct {
	Target
	// Epoch is the connection of Node that is meant; 0 means whichever there is.
	Epoch     ids.Epoch
	Tool      string
	Arguments []byte // a validated JSON object; empty means {}
	// Deadline is absolute.
	Deadline    time.Time
	Traceparent string
}

// Choose picks the node of a call. The error is an *errs.Error, or INVALID_ARGUMENT of the registry.
func (r *Router) Choose(ctx context.Context, t Target) (ids.NodeID, error) {
	if t.Node != "" {
		return t.Node, t.Within.AllowNode(t.Node)
	}
	if !t.Within.All() {
		return r.chooseWithin(ctx, t)
	}
	resp, err := r.Directory.Resolve(ctx, &nodev1.ResolveNodeRequest{
		UserId: string(t.User), SessionId: string(t.Session), PreferredNodeId: string(t.Preferred), NodeType: t.Type,
	})
	switch {
	case errors.Is(err, errs.BusUnavailable) && t.Session == "":
		// Without the registry the pod's own nodes are all it knows, and nobody asked for a certain one.
		if id := r.Local.First(t.User, t.Type); id != "" {
			return id, nil
		}
		return "", err
	case err != nil:
		return "", err
	case resp.GetRequiresSelection():
		e := errs.New(errs.RequiresSelection, "%d nodes are connected; bind the session to one or name it", len(resp.GetAvailableNodes()))
		e.Nodes = resp.GetAvailableNodes()
		return "", e
	case resp.GetNodeId() == "":
		return "", errs.New(errs.NodeNotConnected, "no node of this user is connected")
	}
	return ids.NodeID(resp.GetNodeId()), nil
}

// ChooseAgain picks another node for a call that did not find the one which [Router.Choose] picked; ok is false where there
// is no other, or the call named that one itself. Between the choice and the call a node may leave.
func (r *Router) ChooseAgain(ctx context.Context, t Target, missed ids.NodeID) (node ids.NodeID, ok bool) {
	if t.Node != "" {
		return "", false
	}
	r.Directory.Forget(ids.Node{User: t.User, Node: missed})
	node, err := r.Choose(ctx, t)
	return node, err == nil && node != missed
}

// Refused counts a call that ended before it was sent, for a reason of calls; other errors are the caller's mistakes.
func (r *Router) Refused(span trace.Span, began time.Time, err error) {
	var e *errs.Error
	if errors.As(err, &e) && e.Class() != errs.Refused {
		r.CallEnded(span, e, time.Since(began))
	}
}

// Start sends a tool call to a chosen node. The sink is told what becomes of it, possibly before Start returns.
func (r *Router) Start(req Request, node ids.NodeID, sink calls.Sink) *Pending {
	id := ids.NewCallID()
	data := envelope.ToolCall(string(id), req.Tool, req.Arguments, string(req.Session))
	env := envelope.Call{ID: id, Deadline: req.Deadline, Kind: codec.ToolCall, Type: req.Type, Epoch: req.Epoch, Traceparent: req.Traceparent}
	p := r.newPending(ids.Node{User: req.User, Node: node}, &env, sink)
	p.open(&env, "call tool", req.Tool)
	r.start(p, env, data)
	return p
}

// Relayed is a request in the words of the dialect that its node speaks, see [codec.Relayed].
type Relayed struct {
	Node ids.Node
	// Type is what the node has to be.
	Type  nodev1.NodeType
	Frame []byte // must not be changed
	// Operation names the request in traces.
	Operation string
	// Deadline is absolute.
	Deadline time.Time
	// Traceparent is the W3C trace context of the caller; empty where there is none.
	Traceparent string
}

// Relay sends a request to a chosen node as it is. The sink is told what becomes of it, possibly before Relay returns.
func (r *Router) Relay(req Relayed, sink calls.Sink) *Pending {
	env := envelope.Call{ID: ids.NewCallID(), Deadline: req.Deadline, Kind: codec.Relayed, Type: req.Type, Traceparent: req.Traceparent}
	p := r.newPending(req.Node, &env, sink)
	p.open(&env, req.Operation, "")
	r.start(p, env, req.Frame)
	return p
}

func (r *Router) newPending(key ids.Node, env *envelope.Call, sink calls.Sink) *Pending {
	now := time.Now()
	return &Pending{r: r, key: key, id: env.ID, deadline: env.Deadline, sink: sink, began: now, heard: now}
}

func (r *Router) start(p *Pending, env envelope.Call, data []byte) {
	switch {
	case len(data) > r.MaxFrame:
		p.fail(errs.New(errs.TooLarge, "the call's frame has %d bytes, at most %d are allowed", len(data), r.MaxFrame))
	case !time.Now().Before(env.Deadline):
		p.fail(errs.New(errs.NodeBusy, "the deadline passed before the call was sent"))
	case r.Local.Deliver(p.key, env, data, p):
		p.arm()
	default:
		r.publish(p, env, data)
	}
}

// publish sends the call to whichever pod holds the node.
func (r *Router) publish(p *Pending, env envelope.Call, data []byte) {
	reply, ok := r.enter(p)
	if !ok {
		p.fail(errs.New(errs.Draining, "this pod is shutting down"))
		return
	}
	if len(data) > r.Bus.MaxMessage() {
		p.frame, env.Intake, data = data, len(data), nil
	}
	published := p.published(&env, max(len(data), env.Intake))
	m := &nats.Msg{Subject: bus.NodePrefix(p.key) + bus.SuffixCall, Reply: reply, Header: env.Header(), Data: data}
	err := r.Bus.PublishMsg(m)
	published(err)
	if err != nil {
		p.fail(errs.New(errs.BusUnavailable, "the bus cannot be reached: %w", err))
		return
	}
	p.arm()
}

// Answer is what a node said. Release it when its bytes are no longer needed.
type Answer struct {
	Node ids.NodeID
	// Frame is the whole answer. Result or Error is the JSON-RPC member in it; the answer to a relayed call has neither.
	Frame         *frame.Buffer
	Result, Error []byte
}

// Release gives the frame's bytes back.
func (a *Answer) Release() { release(a.Frame) }

// Read locates the result or the error in the answer to a tool call.
func Read(node ids.NodeID, b *frame.Buffer) *Answer {
	a := &Answer{Node: node, Frame: b}
	a.Result, a.Error = envelope.Outcome(b.Bytes())
	return a
}

// waiter turns a sink into something to wait for.
type waiter struct {
	done     chan struct{}
	answer   *frame.Buffer
	err      *errs.Error
	progress func(params []byte)
	status   func(calls.Status)
}

func (w *waiter) Status(s calls.Status) {
	if w.status != nil {
		w.status(s)
	}
}

func (w *waiter) Progress(params []byte) {
	if w.progress != nil {
		w.progress(params)
	}
}

func (w *waiter) Done(answer *frame.Buffer, err *errs.Error) {
	w.answer, w.err = answer, err
	close(w.done)
}

// Call picks the node, sends the call and waits for its end. progress may be nil; it must not block. The error is an
// *errs.Error, or INVALID_ARGUMENT of the registry.
func (r *Router) Call(ctx context.Context, req Request, progress func(params []byte)) (*Answer, error) {
	if deadline, ok := ctx.Deadline(); ok && deadline.Before(req.Deadline) {
		req.Deadline = deadline
	}
	began := time.Now()
	node, err := r.Choose(ctx, req.Target)
	if err != nil {
		r.Refused(trace.SpanFromContext(ctx), began, err)
		return nil, err
	}
	w := r.call(ctx, req, node, progress)
	if w.err != nil && w.err.Reason == errs.NodeNotConnected {
		if next, ok := r.ChooseAgain(ctx, req.Target, node); ok {
			node, w = next, r.call(ctx, req, next, progress)
		}
	}
	if w.err != nil {
		return nil, w.err
	}
	return Read(node, w.answer), nil
}

// call sends a call to a node and waits for its end.
func (r *Router) call(ctx context.Context, req Request, node ids.NodeID, progress func(params []byte)) *waiter {
	w := &waiter{done: make(chan struct{}), progress: progress}
	p := r.Start(req, node, w)
	select {
	case <-w.done:
	case <-ctx.Done():
		// At the deadline the timer of the call itself decides what to say.
		if errors.Is(ctx.Err(), context.Canceled) {
			p.Cancel("cancelled by the caller")
		}
		<-w.done
	}
	return w
}
