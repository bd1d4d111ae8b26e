package live

import (
	"sync"

	"github.com/nats-io/nats.go"
	"google.golang.org/protobuf/proto"

	"github.com/hecaton-dev/hecaton/pkg/bus"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
)

// topic is one session that somebody on this pod follows.
type topic struct {
	sub *nats.Subscription // nil without a bus; static once in the hub's map

	mu        sync.Mutex
	followers map[*Follower]struct{} // guarded by mu
}

// Join begins to buffer a session's events. All followers of a session share one subscription. Leave it.
func (h *Hub) Join(ref store.Ref) *Follower {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.topics[ref]
	if t == nil {
		t = &topic{followers: map[*Follower]struct{}{}}
		if h.bus != nil {
			var err error
			t.sub, err = h.bus.Subscribe(bus.AgentSubject(ref.User, ref.Session), t.heard)
			if err != nil { // the connection is closed; the store is still there to read
				h.log.Warn("a session is followed without the bus", "error", err)
			}
		}
		h.topics[ref] = t
	}
	f := &Follower{hub: h, ref: ref, topic: t, wake: make(chan struct{}, 1)}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.followers[f] = struct{}{}
	return f
}

// Leave ends a follower.
func (f *Follower) Leave() {
	h, t := f.hub, f.topic
	h.mu.Lock()
	defer h.mu.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, there := t.followers[f]; !there {
		return
	}
	if delete(t.followers, f); len(t.followers) > 0 {
		return
	}
	delete(h.topics, f.ref)
	if t.sub != nil {
		_ = t.sub.Unsubscribe() // fails only where the connection is closed
	}
}

// heard takes a message of another pod. What cannot be read is a reason to look into the store.
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
