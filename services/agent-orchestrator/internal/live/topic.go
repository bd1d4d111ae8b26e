package live

import (
	"sync"

	"github.com/nats-io/nats.go"
	"google.golang.org/protobuf/proto"

	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
)

// topic is one session that somebody on this pod follows.
type topic struct {
	mu        sync.Mutex
	followers map[*Follower]struct{} // guarded by mu

	// A lock of its own, beside mu and the hub's: subscribing on a bus that hangs takes long, and runs must not wait for it.
	subscribing sync.Mutex
	sub         *nats.Subscription // guarded by subscribing; nil before the first follower has subscribed
}

// Join begins to buffer a session's events. All followers of a session share one subscription. Call Leave at the end.
func (h *Hub) Join(ref store.Ref) *Follower {
	f := &Follower{hub: h, ref: ref, wake: make(chan struct{}, 1)}
	h.mu.Lock()
	t := h.topics[ref]
	if t == nil {
		t = &topic{followers: map[*Follower]struct{}{}}
		h.topics[ref] = t
	}
	f.topic = t
	t.mu.Lock()
	t.followers[f] = struct{}{}
	t.mu.Unlock()
	h.mu.Unlock()
	if h.bus != nil {
		h.subscribe(t, ref)
	}
	return f
}

func (h *Hub) subscribe(t *topic, ref store.Ref) {
	t.subscribing.Lock()
	defer t.subscribing.Unlock()
	if t.sub != nil {
		return
	}
	var err error
	t.sub, err = h.bus.Subscribe(bus.AgentSubject(ref.User, ref.Session), t.heard)
	if err != nil { // the connection is closed; the store is still there to read
		h.log.Warn("the bus is not available; a session is followed through the store", "error", err)
		return
	}
	h.announce.add(ref)
}

// Leave ends a follower.
func (f *Follower) Leave() {
	if !f.hub.remove(f) {
		return
	}
	t := f.topic // it has no followers now: the next Join makes another
	t.subscribing.Lock()
	defer t.subscribing.Unlock()
	if t.sub != nil {
		_ = t.sub.Unsubscribe() // fails only where the connection is closed
	}
}

// remove reports whether f was the last follower of its topic.
func (h *Hub) remove(f *Follower) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := f.topic
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, there := t.followers[f]; !there {
		return false
	}
	if delete(t.followers, f); len(t.followers) > 0 {
		return false
	}
	delete(h.topics, f.ref)
	return true
}

// heard handles a message of another pod. If it cannot be read, followers look into the store.
func (t *topic) heard(m *nats.Msg) {
	events, err := decode(m.Data)
	if err != nil || len(events) == 0 {
		t.fallBehind()
		return
	}
	size := 0
	for _, e := range events {
		size += proto.Size(e)
	}
	t.push(events, size)
}

func (t *topic) push(events []*agentv1.Event, size int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for f := range t.followers {
		f.push(events, size)
	}
}

func (t *topic) fallBehind() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for f := range t.followers {
		f.fallBehind()
	}
}
