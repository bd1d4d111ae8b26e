package holder

import (
	"context"
	"errors"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/tool/tooldef"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/held/hub"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/conn"
)

// RefusedError says why a node may not be held here.
type RefusedError struct {
	Reason  conn.Reason
	Message string
}

func (e *RefusedError) Error() string { return e.Message }

var errGone = &RefusedError{conn.ClientClosed, "the connection has ended"}

var errSuperseded = &RefusedError{conn.Superseded, "a later connection of the same node exists"}

// errOvertaken depends on the clocks of two pods, which may be wrong: the node is told to connect again, and is the later one
// then.
var errOvertaken = &RefusedError{conn.Overloaded, "a connection of the same node that was accepted later has been registered before"}

// Attach makes this pod the holder of a new connection's node. When it returns without an error, calls from every pod
// reach the node, and this one only. The error is a *[RefusedError].
func (h *Holder) Attach(ctx context.Context, n *hub.Node) error {
	n.Life.Lock()
	defer n.Life.Unlock()
	defer h.names.lock(n.Key())()
	err := h.due(n)
	if err == nil {
		h.supersede(h.Hub.Add(n))
		err = h.enter(ctx, n, n.Info())
	}
	if err != nil {
		h.unsubscribe(n)
		h.detach(ctx, n)
		return err
	}
	h.Attached(time.Since(n.Since()))
	return nil
}

// due refuses a connection whose turn comes too late: its node has hung up, or has a later connection here already, which it
// must not supersede.
func (h *Holder) due(n *hub.Node) error {
	if n.Conn.Gone() {
		return errGone
	}
	if other := h.Hub.Find(n.Key()); other != nil && other.Since().After(n.Since()) {
		return errSuperseded
	}
	return nil
}

// Update changes what the node says of itself; info may name another node id, which the connection then takes. tools are the
// definitions that info names. The error is a *[RefusedError], after which the connection has to end.
func (h *Holder) Update(ctx context.Context, n *hub.Node, info *nodev1.NodeInfo, tools tooldef.Set) error {
	n.Life.Lock()
	defer n.Life.Unlock()
	if n.Gone {
		return errGone
	}
	n.Tools = tools
	if ids.NodeID(info.GetNodeId()) != n.Key().Node {
		return h.rename(ctx, n, info)
	}
	epoch, err := h.register(ctx, n, info, n.Epoch())
	if err != nil {
		return err
	}
	n.SetEpoch(epoch)
	n.SetInfo(info)
	return nil
}

func (h *Holder) rename(ctx context.Context, n *hub.Node, info *nodev1.NodeInfo) error {
	// The old name is given back first, so that a user with the greatest number of nodes can rename one.
	h.letGo(n)
	h.farewell(ctx, n.Key(), n.Epoch())
	name := ids.NodeID(info.GetNodeId())
	defer h.names.lock(ids.Node{User: n.User, Node: name})()
	left, ok := h.Hub.Rename(n, name)
	if !ok {
		return errSuperseded
	}
	h.supersede(left)
	n.SetInfo(info)
	return h.enter(ctx, n, info)
}

// enter takes hold of a name under which the node is in the hub. Who sees the node in the registry can call it, so the
// bus comes first.
func (h *Holder) enter(ctx context.Context, n *hub.Node, info *nodev1.NodeInfo) error {
	h.subscribe(ctx, n)
	epoch, err := h.register(ctx, n, info, 0)
	if err != nil {
		return err
	}
	h.mu.Lock()
	n.SetEpoch(epoch)
	fences := h.fences[n]
	delete(h.fences, n)
	h.mu.Unlock()
	for _, m := range fences {
		h.fenced(n.Key(), m)
	}
	return h.fence(ctx, n)
}

// Renew registers a node again that the registry does not know, or closes it where a later connection exists.
func (h *Holder) Renew(ctx context.Context, n *hub.Node) {
	n.Life.Lock()
	defer n.Life.Unlock()
	if n.Gone {
		return
	}
	epoch, err := h.register(ctx, n, n.Info(), n.Epoch())
	var refused *RefusedError
	if errors.As(err, &refused) {
		n.Conn.Close(refused.Reason)
		return
	}
	n.SetEpoch(epoch)
}

// Superseded closes a node of which the registry says that a later connection has its name, unless the node has another name
// or another epoch by now than those for which the registry was asked: then what is later may be the node itself.
func (h *Holder) Superseded(n *hub.Node, key ids.Node, epoch ids.Epoch) {
	n.Life.Lock()
	defer n.Life.Unlock()
	if !n.Gone && n.Key() == key && n.Epoch() == epoch {
		n.Conn.Close(conn.Superseded)
	}
}

// Detach gives up a node whose connection is ending: open calls end, and the name is free.
func (h *Holder) Detach(ctx context.Context, n *hub.Node) {
	// Open calls end at once, however long the registry takes.
	h.leave(n)
	n.Calls.Close("the node's connection ended")
	n.Life.Lock()
	defer n.Life.Unlock()
	h.detach(ctx, n)
}

func (h *Holder) leave(n *hub.Node) {
	if n.Conn.Reason() == conn.Superseded {
		h.unsubscribe(n)
	} else {
		h.letGo(n)
	}
	h.Hub.Remove(n)
}

func (h *Holder) detach(ctx context.Context, n *hub.Node) {
	n.Gone = true
	h.leave(n)
	n.Calls.Close("the node's connection ended")
	h.mu.Lock()
	fences := h.fences[n]
	delete(h.fences, n)
	delete(h.unfenced, n)
	h.mu.Unlock()
	for _, m := range fences {
		h.giveWay(n.Key())
		h.answerFence(m, fencePassed)
	}
	if epoch := n.Epoch(); epoch != 0 {
		h.farewell(ctx, n.Key(), epoch)
	}
}

// Retire keeps new calls of other pods away from a node, the first step of a drain. The node stays where open calls,
// cancellations and fences find it, and its calls still come here, to be refused, until its next holder has joined.
func (h *Holder) Retire(n *hub.Node) { n.Retired.Store(true) }

// supersede ends a connection whose name a later connection of this pod has taken.
func (h *Holder) supersede(old *hub.Node) {
	if old == nil {
		return
	}
	h.letGo(old)
	old.Conn.Close(conn.Superseded)
}

// register asks the registry for an epoch. Where the registry is away the node is served under the epoch that it
// has, or under a provisional one, that of the moment at which it asked; the next heartbeats register it.
func (h *Holder) register(ctx context.Context, n *hub.Node, info *nodev1.NodeInfo, epoch ids.Epoch) (ids.Epoch, error) {
	own := epoch
	if own == 0 {
		own = provisional()
	}
	status, tasks := n.Load()
	registration := &nodev1.Registration{
		UserId: string(n.User), Info: info, Epoch: int64(epoch), Status: status, CurrentTasks: tasks,
		ConnectedAt: timestamppb.New(n.Since()),
	}
	r, err := h.Registry.Register(ctx, registration)
	if err == nil && r.GetOutcome() == nodev1.RegisterResult_OUTCOME_TOOLS_WANTED {
		registration.Tools = n.Tools.Packed()
		r, err = h.Registry.Register(ctx, registration)
	}
	switch {
	case errors.Is(err, errs.BusUnavailable) || errors.Is(err, context.DeadlineExceeded):
		return h.unregistered(n, own, err), nil
	case err != nil:
		h.Logger.WarnContext(ctx, "the registry could not register a node", "error", err)
		return 0, &RefusedError{conn.GoingAway, "the node cannot be registered right now"}
	}
	switch r.GetOutcome() {
	case nodev1.RegisterResult_OUTCOME_REGISTERED:
		n.Unregistered.Store(false)
		return ids.Epoch(r.GetEpoch()), nil
	case nodev1.RegisterResult_OUTCOME_TOO_MANY_NODES:
		return 0, &RefusedError{conn.TooManyNodes, "too many nodes of this user are connected"}
	case nodev1.RegisterResult_OUTCOME_SUPERSEDED:
		if epoch == 0 {
			return 0, errOvertaken
		}
		return 0, errSuperseded
	}
	if r.GetOutcome() == nodev1.RegisterResult_OUTCOME_INVALID {
		return 0, &RefusedError{conn.NotAllowed, r.GetError()}
	}
	return h.unregistered(n, own, errors.New(r.GetError())), nil
}

// unregistered serves a node that the registry could not store yet.
func (h *Holder) unregistered(n *hub.Node, epoch ids.Epoch, why error) ids.Epoch {
	h.Logger.Warn("a node is served although the registry does not know it yet", "error", why)
	n.Unregistered.Store(true)
	return epoch
}

func (h *Holder) farewell(ctx context.Context, key ids.Node, epoch ids.Epoch) {
	if err := h.Registry.Deregister(ctx, key, epoch); err != nil {
		h.Logger.Warn("the registry could not be told of a node's end; it expires there", "error", err)
	}
}
