package router

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go"
	"go.opentelemetry.io/otel/trace"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/envelope"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/held/calls"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/frame"
)

// DefaultTimeout is how long a tool call waits (docs/protocols/zeus-nodes.md#calls).
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
		return t.Node, nil
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

// Refused counts a call that ended before it was sent, for a reason of calls; other errors are the caller's mistakes.
func (r *Router) Refused(span trace.Span, began time.Time, err error) {
	var e *errs.Error
	if errors.As(err, &e) && e.Class() != errs.Refused {
		r.CallEnded(span, e, time.Since(began))
	}
}

// Start sends a tool call to a chosen node. Whatever becomes of it, sink hears of it, possibly before Start returns.
func (r *Router) Start(req Request, node ids.NodeID, sink calls.Sink) *Pending {
	id := ids.NewCallID()
	size := 192 + len(req.Arguments) + len(req.Tool) + len(req.Session)
	data := jsonrpc.Call{
		ID: string(id), Tool: req.Tool, Arguments: req.Arguments, SessionID: string(req.Session),
	}.Append(make([]byte, 0, size))
	env := envelope.Call{ID: id, Deadline: req.Deadline, Kind: calls.Tool, Type: req.Type, Epoch: req.Epoch, Traceparent: req.Traceparent}
	return r.start(ids.Node{User: req.User, Node: node}, env, data, req.Tool, sink)
}

// StartWorkflow sends an execute_workflow frame to a chosen node, which has to be an extension.
func (r *Router) StartWorkflow(key ids.Node, data []byte, deadline time.Time, sink calls.Sink) *Pending {
	env := envelope.Call{
		ID: ids.NewCallID(), Deadline: deadline, Kind: calls.Workflow, Type: nodev1.NodeType_NODE_TYPE_EXTENSION,
	}
	return r.start(key, env, data, "", sink)
}

func (r *Router) start(key ids.Node, env envelope.Call, data []byte, tool string, sink calls.Sink) *Pending {
	p := &Pending{r: r, key: key, id: env.ID, deadline: env.Deadline, sink: sink}
	p.began = time.Now()
	p.heard = p.began
	p.open(&env, tool)
	switch {
	case len(data) > r.MaxFrame:
		p.fail(errs.New(errs.TooLarge, "the call's frame has %d bytes, at most %d are allowed", len(data), r.MaxFrame))
	case !time.Now().Before(env.Deadline):
		p.fail(errs.New(errs.NodeBusy, "the deadline passed before the call was sent"))
	case r.Local.Deliver(key, env, data, p):
		p.arm()
	default:
		r.publish(p, env, data)
	}
	return p
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
	// Frame is the whole frame; Result or Error is the JSON-RPC member in it, unless the frame is no JSON-RPC.
	Frame         *frame.Buffer
	Result, Error []byte
}

// Release gives the frame's bytes back.
func (a *Answer) Release() { release(a.Frame) }

// Read locates the result or error of an answer frame, which its holder validated. An answer with neither counts as an
// error of the node.
func Read(node ids.NodeID, b *frame.Buffer) *Answer {
	a := &Answer{Node: node, Frame: b}
	f := jsonrpc.Locate(b.Bytes())
	switch {
	case !jsonrpc.IsNull(f.Error):
		a.Error = f.Error
	case f.Result != nil:
		a.Result = f.Result
	default:
		a.Error = []byte(`{"code":-32603,"message":"The node's answer has neither a result nor an error"}`)
	}
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
	if w.err != nil {
		return nil, w.err
	}
	return Read(node, w.answer), nil
}
