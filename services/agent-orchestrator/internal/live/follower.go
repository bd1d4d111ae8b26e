package live

import (
	"sync"

	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
)

// backlogBytes bounds the events that wait for one follower: enough for some seconds of a fast model and a usual large result.
const backlogBytes = 1 << 20

// Follower is one stream of a session's events.
type Follower struct {
	// Static after construction.
	hub   *Hub
	ref   store.Ref
	topic *topic
	wake  chan struct{} // has a token while there may be something new

	mu     sync.Mutex
	queue  []*agentv1.Event // guarded by mu
	queued int              // bytes of queue; guarded by mu
	behind bool             // events were dropped, and are in the store; guarded by mu

	// Owned by the goroutine that follows.
	cursor int64 // the last event that was sent or skipped
	sent   bool  // whether an event was sent
	goal   goal
}

func (f *Follower) push(events []*agentv1.Event, size int) {
	f.mu.Lock()
	if f.queued+size > backlogBytes && len(f.queue) > 0 {
		f.queue, f.queued, f.behind = nil, 0, true
	}
	if !f.behind {
		f.queue = append(f.queue, events...)
		f.queued += size
	}
	f.mu.Unlock()
	f.notify()
}

func (f *Follower) fallBehind() {
	f.mu.Lock()
	f.behind = true
	f.mu.Unlock()
	f.notify()
}

func (f *Follower) notify() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// take empties the buffer, and reports whether events were dropped from it.
func (f *Follower) take() (events []*agentv1.Event, behind bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	events, behind = f.queue, f.behind
	f.queue, f.queued, f.behind = nil, 0, false
	return events, behind
}
