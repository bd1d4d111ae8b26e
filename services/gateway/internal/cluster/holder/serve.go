package holder

import (
	"errors"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/node/nodetype"
	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/envelope"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/held/calls"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/held/codec"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/held/hub"
)

func (h *Holder) dispatch(m *nats.Msg) {
	if strings.HasPrefix(m.Subject, h.intake.prefix) {
		h.intake.take(m, h.MaxFrame)
		return
	}
	key, suffix, err := bus.ParseNode(m.Subject)
	if err != nil {
		h.Logger.Warn("message on a subject that names no node", "subject_bytes", len(m.Subject))
		return
	}
	switch suffix {
	case bus.SuffixCall:
		if envelope.IsCall(m) {
			h.called(key, m)
		} else {
			h.sent(key, m)
		}
	case bus.SuffixControl:
		h.controlled(key, m)
	}
}

func (h *Holder) controlled(key ids.Node, m *nats.Msg) {
	switch kind := envelope.ControlOf(m); kind {
	case envelope.Cancel:
		id, reason := envelope.EndedCall(m)
		h.Cancel(key, id, reason)
	case envelope.Fence:
		h.fenced(key, m)
	default:
		h.Logger.Warn("control message of an unknown kind", "kind", string(kind))
	}
}

// called takes a call of another pod.
func (h *Holder) called(key ids.Node, m *nats.Msg) {
	c, err := envelope.ParseCall(m.Header)
	if err != nil {
		h.Logger.Warn("malformed call", "error", err)
		return
	}
	if time.Now().After(c.Deadline) {
		return // its caller has given up already
	}
	reply := &busReply{h: h, subject: m.Reply, deadline: c.Deadline, span: h.received(&c, max(len(m.Data), c.Intake))}
	if c.Intake == 0 {
		h.start(key, c, m.Data, reply)
		return
	}
	h.intake.expect(h.Bus, m.Reply, c.Intake, h.MaxFrame, incoming{
		deadline: c.Deadline,
		then:     func(frame []byte) { h.start(key, c, frame, reply) },
		fail:     func(err *errs.Error) { reply.Done(nil, err) },
	})
}

// start begins a call of another pod at its node, unless it comes so late that its router may have been told that nobody has
// seen it.
func (h *Holder) start(key ids.Node, c envelope.Call, frame []byte, sink calls.Sink) {
	n := h.Hub.Find(key)
	switch {
	case n == nil, n.Retired.Load():
		sink.Done(nil, errNotHere())
	case h.fresh.stale(time.Now()), !h.Witness.Take(c.ID):
		sink.Done(nil, errs.New(errs.BusUnavailable, "the call came too late to the pod that holds the node"))
	case !h.Deliver(key, c, frame, sink):
		sink.Done(nil, errNotHere())
	}
}

func errNotHere() *errs.Error { return errs.New(errs.NodeNotConnected, "the node is not connected") }

func (h *Holder) retired(key ids.Node) bool {
	n := h.Hub.Find(key)
	return n != nil && n.Retired.Load()
}

// Deliver starts a call at a node of this pod. It reports whether the node is here, by the connection that is meant; if not,
// the sink is told nothing.
func (h *Holder) Deliver(key ids.Node, c envelope.Call, frame []byte, sink calls.Sink) bool {
	n := h.Hub.Find(key)
	if n == nil || c.Epoch != 0 && c.Epoch != n.Epoch() {
		return false
	}
	if kind := n.Info().GetNodeType(); c.Type != nodev1.NodeType_NODE_TYPE_UNSPECIFIED && kind != c.Type {
		sink.Done(nil, errs.New(errs.NodeNotConnected, "the node is of another type, %s", nodetype.Name(kind)))
		return true
	}
	traced := h.onSocket(&c, frame)
	if traced != nil {
		traced.Sink, sink = sink, traced
	}
	wire, failure := h.encode(n, c, frame)
	if failure != nil {
		sink.Done(nil, failure)
		return true
	}
	traced.name(wire.Operation)
	n.Start(calls.Call{ID: c.ID, Kind: c.Kind, Deadline: c.Deadline, Frame: wire.Frame, Name: wire.Name}, sink)
	return true
}

// encode returns a call as its node reads it.
func (h *Holder) encode(n *hub.Node, c envelope.Call, frame []byte) (codec.Wire, *errs.Error) {
	info := n.Info()
	if c.Kind == codec.ToolCall && len(info.GetAvailableTools()) > 0 {
		if tool := envelope.Tool(frame); !n.Offers(tool) {
			return codec.Wire{}, errs.New(errs.ToolNotOffered, "the node does not offer the tool %q, it offers %q", tool, info.GetAvailableTools())
		}
	}
	wire, failure := n.Codec.Call(codec.Call{ID: c.ID, Kind: c.Kind, Frame: frame, Traceparent: c.Traceparent, Node: info})
	if failure == nil && len(wire.Frame) > h.MaxFrame { // the router checked it as it is on the bus
		failure = errs.New(errs.TooLarge, "the call's frame has %d bytes, at most %d are allowed", len(wire.Frame), h.MaxFrame)
	}
	return wire, failure
}

// Cancel gives up a call at a node of this pod and reports whether it was open here.
func (h *Holder) Cancel(key ids.Node, id ids.CallID, reason string) bool {
	n := h.Hub.Find(key)
	return n != nil && n.Calls.Cancel(id, reason)
}

// First returns the user's node that connected to this pod first, of a type where one is given; "" if there is none.
func (h *Holder) First(user ids.UserID, kind nodev1.NodeType) ids.NodeID {
	if n := h.Hub.First(user, kind); n != nil {
		return n.Key().Node
	}
	return ""
}

// sent writes a frame of another pod that is no call, and says that it did.
func (h *Holder) sent(key ids.Node, m *nats.Msg) {
	size, err := envelope.SendIntake(m)
	if err != nil {
		h.Logger.Warn("malformed frame for a node", "error", err)
		return
	}
	asker := envelope.Asker(m)
	if h.retired(key) {
		h.confirm(m.Reply, errNotHere())
		return
	}
	if size == 0 {
		h.confirm(m.Reply, h.Send(key, m.Data, asker))
		return
	}
	h.intake.expect(h.Bus, m.Reply, size, h.MaxFrame, incoming{
		deadline: time.Now().Add(sendTimeout),
		then:     func(frame []byte) { h.confirm(m.Reply, h.Send(key, frame, asker)) },
		fail:     func(err *errs.Error) { h.confirm(m.Reply, err) },
	})
}

// confirm tells the sender of a frame what became of it.
func (h *Holder) confirm(reply string, failure *errs.Error) {
	if reply == "" {
		return
	}
	m := envelope.Reply(reply, envelope.Sent, nil)
	if failure != nil {
		m = envelope.Failure(reply, failure)
	}
	if err := h.Bus.PublishMsg(m); err != nil {
		h.Logger.Warn("the sender of a frame could not be told what became of it", "error", err)
	}
}

// sendTimeout is how long the rest of a large frame may take.
const sendTimeout = 10 * time.Second

// Send writes a frame that is no call to a node of this pod. asker is the client that waits for what the node says, if any.
// The error is nil once the frame is queued at the socket.
func (h *Holder) Send(key ids.Node, frame []byte, asker string) *errs.Error {
	n := h.Hub.Find(key)
	if n == nil {
		return errNotHere()
	}
	err := n.Codec.Forward(frame, asker, func(frame []byte) error { return n.Conn.Send(frame, nil) })
	var failure *errs.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &failure):
		return failure
	}
	return errs.New(errs.NodeNotConnected, "the node's connection is closing")
}

// Sweep keeps a node's calls alive at their callers, and drops those whose caller is gone.
func (h *Holder) Sweep(n *hub.Node, now time.Time) { n.Calls.Sweep(now, keepalive, callerGrace) }

const (
	// keepalive is how often a router is told that a call goes on: it takes a silence of 5 s for a lost holder.
	keepalive = 2 * time.Second
	// callerGrace is how long after its deadline a call waits for its caller to give it up.
	callerGrace = 2 * time.Second
)
