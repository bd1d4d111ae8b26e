package live

import (
	"sync"

	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
)

// outboxBytes bounds the events that wait for the bus, of all runs of the pod together.
const outboxBytes = 32 << 20

// batch is the content of one bus message, or of several. One without events tells the other pods to look into the store.
type batch struct {
	ref    store.Ref
	events []*agentv1.Event
	size   int
}

// outbox publishes on a goroutine of its own: a publish may have to wait for the bus's socket, and no run should wait for it.
type outbox struct {
	bus  *bus.Conn
	wake chan struct{} // has a token while there may be something new
	done chan struct{} // closed when run has returned

	mu     sync.Mutex
	queue  []batch // guarded by mu
	queued int     // bytes of queue; guarded by mu
	closed bool    // guarded by mu
}

func newOutbox(b *bus.Conn) *outbox {
	o := &outbox{bus: b, wake: make(chan struct{}, 1), done: make(chan struct{})}
	go o.run()
	return o
}

// put queues events. It drops them if the queue is full or the bus is not available: followers on other pods notice the gap.
func (o *outbox) put(p batch) {
	o.mu.Lock()
	if !o.closed && o.queued+p.size <= outboxBytes && o.bus.Up() {
		o.queue = append(o.queue, p)
		o.queued += p.size
	}
	o.mu.Unlock()
	o.notify()
}

func (o *outbox) notify() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// close returns when everything in the queue is published.
func (o *outbox) close() {
	o.mu.Lock()
	o.closed = true
	o.mu.Unlock()
	o.notify()
	<-o.done
}

func (o *outbox) run() {
	defer close(o.done)
	for range o.wake {
		o.mu.Lock()
		queue, closed := o.queue, o.closed
		o.queue, o.queued = nil, 0
		o.mu.Unlock()
		for _, p := range queue {
			o.publish(p)
		}
		if closed {
			return
		}
	}
}

func (o *outbox) publish(p batch) {
	messages, err := encode(p.events, o.bus.MaxMessage())
	if err != nil {
		messages = [][]byte{nil}
	}
	for _, m := range messages {
		if o.bus.Publish(bus.AgentSubject(p.ref.User, p.ref.Session), m) != nil {
			return // the bus went away
		}
	}
}
