package holder

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/held/hub"
)

// interest is what this pod is subscribed to for a name: two subscriptions, since each takes memory here and in every server
// of the bus.
type interest struct {
	name    ids.Node
	calls   *nats.Subscription // one holder of several takes a message: two must not both pass it on
	control *nats.Subscription // every holder takes it
}

const (
	// linger is how long a pod stays subscribed for a node that it no longer has, unless the node's next holder says that it
	// has taken over.
	//
	// Calls may be on their way to this pod when the node leaves it. In a cluster of NATS servers the last member of a queue
	// group cannot leave without losing them: a server to which a call was routed for a member that has left hands it to
	// another member, and drops it where there is none (of calls under way all the time, 434 in 200 moves of a node; none in
	// 170,000 where the next member came first). So the next holder joins before this one leaves, and until it does, this one
	// answers that the node is not here.
	linger = 5 * time.Second
	// handOver is how long a pod that ends waits for the next holders of the nodes it has sent away.
	handOver = time.Second
)

// subscribe returns once the bus sends what is for the node.
func (h *Holder) subscribe(ctx context.Context, n *hub.Node) {
	in := &interest{name: n.Key()}
	prefix := bus.NodePrefix(in.name)
	var first, second error
	in.calls, first = h.Bus.ChanQueueSubscribe(prefix+bus.SuffixCall, bus.HolderQueue, h.messages)
	in.control, second = h.Bus.ChanSubscribe(prefix+bus.SuffixControl, h.messages)
	if err := errors.Join(first, second); err != nil { // only once the bus is closed for good
		h.Logger.Error("a node's subjects could not be subscribed to", "error", err)
	}
	h.mu.Lock()
	h.interests[n] = in
	h.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, fenceTimeout)
	defer cancel()
	if err := h.Bus.FlushWithContext(ctx); err != nil {
		h.Logger.Warn("a node is served without the bus; other pods can call it once the bus is back", "error", err)
	}
	h.giveWay(in.name) // to oneself
}

// unsubscribe ends a node's interest at once: another holder has joined.
func (h *Holder) unsubscribe(n *hub.Node) {
	h.mu.Lock()
	in := h.interests[n]
	delete(h.interests, n)
	h.mu.Unlock()
	h.drop(in)
}

// letGo ends the interest of a node that leaves this pod, later: when another holder has joined, or nobody is likely to.
func (h *Holder) letGo(n *hub.Node) {
	h.mu.Lock()
	in := h.interests[n]
	delete(h.interests, n)
	var earlier *lingering
	if in != nil {
		earlier = h.left[in.name]
		l := &lingering{interest: in}
		l.timer = time.AfterFunc(linger, func() { h.expire(l) })
		h.left[in.name] = l
	}
	h.mu.Unlock()
	h.dismiss(earlier)
}

// lingering is the interest in a name that has no node here any more.
type lingering struct {
	*interest
	timer *time.Timer
}

func (h *Holder) expire(l *lingering) {
	h.mu.Lock()
	mine := h.left[l.name] == l
	if mine {
		h.forget(l.name)
	}
	h.mu.Unlock()
	if mine {
		h.drop(l.interest)
	}
}

// giveWay ends what lingers for a name that has a holder again.
func (h *Holder) giveWay(name ids.Node) {
	h.mu.Lock()
	l := h.left[name]
	h.forget(name)
	h.mu.Unlock()
	h.dismiss(l)
}

// forget is called with mu held.
func (h *Holder) forget(name ids.Node) {
	delete(h.left, name)
	if len(h.left) == 0 && h.handed != nil {
		close(h.handed)
		h.handed = nil
	}
}

func (h *Holder) dismiss(l *lingering) {
	if l != nil {
		l.timer.Stop()
		h.drop(l.interest)
	}
}

// waitForSuccessors waits until nothing lingers, for a moment, and ends what still does.
func (h *Holder) waitForSuccessors() {
	h.mu.Lock()
	handed := make(chan struct{})
	if len(h.left) == 0 || !h.Bus.Up() {
		close(handed)
	} else {
		h.handed = handed
	}
	h.mu.Unlock()
	timeout := time.NewTimer(handOver)
	defer timeout.Stop()
	select {
	case <-handed:
	case <-timeout.C:
	}
	h.mu.Lock()
	left := h.left
	h.left, h.handed = make(map[ids.Node]*lingering), nil
	h.mu.Unlock()
	for _, l := range left {
		h.dismiss(l)
	}
}

// drop ends subscriptions. What the server has sent already is still heard, and answered by whoever holds the node then,
// or by nobody: a plain unsubscribe would swallow it, and the caller would take the pod for lost.
func (h *Holder) drop(in *interest) {
	if in == nil {
		return
	}
	for _, s := range []*nats.Subscription{in.calls, in.control} {
		if s != nil {
			h.Bus.Leave(s)
		}
	}
}
