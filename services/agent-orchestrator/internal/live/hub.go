package live

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"google.golang.org/protobuf/proto"

	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/pkg/process/options"
	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
)

// Store has sessions and their events (package store). An absent session is errs.SessionNotFound.
type Store interface {
	// Events returns at most limit events of a session whose numbers are greater than after, in order.
	Events(ctx context.Context, ref store.Ref, after int64, limit int) ([]*agentv1.Event, error)
	Session(ctx context.Context, ref store.Ref) (store.Session, error)
}

// Hub connects runs with those who follow them. It is safe for concurrent use.
type Hub struct {
	// Static after construction.
	store    Store
	bus      *bus.Conn // nil: this pod is alone
	log      *slog.Logger
	out      *outbox // nil where bus is
	cancels  *nats.Subscription
	follows  *nats.Subscription
	interest *interest
	announce *announcer      // nil where bus is
	draining context.Context // ended by Drain
	drain    context.CancelFunc

	mu       sync.Mutex
	topics   map[store.Ref]*topic // guarded by mu
	onCancel func(store.Ref)      // guarded by mu
}

// Options of a Hub.
type Options struct {
	// Store has the events that were published before; required.
	Store Store
	// Bus carries events to the other pods; nil if there are none. The caller closes it.
	Bus *bus.Conn
	// Logger hears of events that cannot be sent or read; nil discards.
	Logger *slog.Logger
}

// New checks the options and returns a Hub. Close it.
func New(o Options) (*Hub, error) {
	if err := options.Require("live", map[string]bool{"Store": o.Store == nil}); err != nil {
		return nil, err
	}
	b := o.Bus
	h := &Hub{
		store: o.Store, bus: b, log: obs.OrDiscard(o.Logger), topics: map[store.Ref]*topic{},
		interest: newInterest(),
	}
	h.draining, h.drain = context.WithCancel(context.Background())
	if b == nil {
		return h, nil
	}
	var err error
	if h.cancels, err = b.Subscribe(bus.AllCancels, h.heardCancel); err != nil {
		return nil, err
	}
	h.out = newOutbox(b)
	if h.follows, err = b.Subscribe(bus.FollowsSubject, h.heardFollows); err != nil {
		h.out.close()
		_ = h.cancels.Unsubscribe() // fails only where the connection is closed
		return nil, err
	}
	h.announce = newAnnouncer(h)
	return h, nil
}

// Publish sends the followers of a session events that were just stored, which must not change any more. It does not block.
func (h *Hub) Publish(ref store.Ref, events []*agentv1.Event) {
	if len(events) == 0 {
		return
	}
	size := 0
	for _, e := range events {
		size += proto.Size(e)
	}
	if t := h.topic(ref); t != nil {
		t.push(events, size)
	}
	if h.bus != nil && h.interest.wanted(ref) {
		h.out.put(batch{ref: ref, events: events, size: size})
	}
}

// Look makes the followers of a session read the store, because it changed without an event, as when it is deleted.
func (h *Hub) Look(ref store.Ref) {
	if t := h.topic(ref); t != nil {
		t.fallBehind()
	}
	if h.out != nil {
		h.out.put(batch{ref: ref})
	}
}

func (h *Hub) topic(ref store.Ref) *topic {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.topics[ref]
}

// Drain ends every Follow with errs.AgentUnavailable: its client follows on another pod.
func (h *Hub) Drain() { h.drain() }

// Close drains, and returns when everything that was published was handed to the bus.
func (h *Hub) Close(ctx context.Context) {
	h.Drain()
	if h.bus == nil {
		return
	}
	_ = h.cancels.Unsubscribe() // fails only where the connection is closed
	_ = h.follows.Unsubscribe()
	h.announce.close()
	h.out.close()
	ctx, cancel := context.WithTimeout(ctx, flushTimeout)
	defer cancel()
	_ = h.bus.FlushWithContext(ctx) // on an error followers on other pods read the store
}

// flushTimeout bounds the wait for the bus to confirm that it has received what was sent to it.
const flushTimeout = time.Second

// away reports whether events of other pods cannot be received now.
func (h *Hub) away() bool { return h.bus != nil && !h.bus.Up() }
