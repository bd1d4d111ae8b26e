package changes

import (
	"context"
	"hash/maphash"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"google.golang.org/protobuf/proto"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
)

const (
	// kind is that of the topic on which pods announce changes that are none of devices.
	kind = "mcp-changed"
	// gap is the least time between two notifications of one user.
	gap = 20 * time.Millisecond
	// inbox is how many announcements may wait to be read. More are dropped: then everybody is told.
	inbox = 64 << 10
	// joinTimeout bounds the wait for the bus to confirm a subscription, and for the registry.
	joinTimeout = 2 * time.Second
)

// Registry lists the devices of a user.
type Registry interface {
	List(context.Context, *nodev1.ListNodesRequest) ([]*nodev1.Node, error)
}

// Feed is safe for concurrent use.
type Feed struct {
	// Static after construction.
	bus      *bus.Conn
	registry Registry
	log      *slog.Logger
	seed     maphash.Seed
	events   chan *nats.Msg // of all users
	quit     chan struct{}
	work     sync.WaitGroup

	mu    sync.Mutex
	users map[ids.UserID]*user
}

// user is one whose changes somebody listens to; guarded by the feed's mu.
type user struct {
	subs      []*nats.Subscription
	listeners map[chan struct{}]bool
	devices   map[string]word
	told      time.Time
	later     *time.Timer // tells when gap is over; nil for nothing to tell
	ready     chan struct{}
}

// word is the last that was heard of a device.
type word struct {
	hash uint64 // of what it says of itself; 0 for one that is gone
	at   int64  // when it was stored, by the store's clock in milliseconds
}

const (
	// unsure is the hash of a device of which two things were said in one millisecond: whatever comes next is news.
	unsure = ^uint64(0)
	// disorder is by how much, in milliseconds, announcements may overtake each other. One that is older still comes after the
	// store's clock was set back.
	disorder = 5000
)

// New returns a Feed that serves until Close.
func New(b *bus.Conn, r Registry, log *slog.Logger) *Feed {
	f := &Feed{
		bus: b, registry: r, log: log, seed: maphash.MakeSeed(), events: make(chan *nats.Msg, inbox), quit: make(chan struct{}),
		users: make(map[ids.UserID]*user),
	}
	b.OnReconnect(f.tellAll)
	f.work.Go(f.serve)
	return f
}

// Close stops serving.
func (f *Feed) Close() {
	close(f.quit)
	f.work.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	for id, u := range f.users {
		f.drop(id, u)
	}
}

// Listen returns a channel that has something in it after each change from now on, until leave is called.
func (f *Feed) Listen(ctx context.Context, id ids.UserID) (changed <-chan struct{}, leave func()) {
	ch := make(chan struct{}, 1)
	u, first := f.join(id, ch)
	if first {
		f.begin(ctx, id, u)
		close(u.ready)
	}
	select {
	case <-u.ready:
	case <-ctx.Done():
	}
	return ch, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if delete(u.listeners, ch); len(u.listeners) == 0 && f.users[id] == u {
			f.drop(id, u)
		}
	}
}

func (f *Feed) join(id ids.UserID, ch chan struct{}) (u *user, first bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	u = f.users[id]
	if u == nil {
		first = true
		u = &user{listeners: make(map[chan struct{}]bool), devices: make(map[string]word), ready: make(chan struct{})}
		f.users[id] = u
		for _, subject := range []string{bus.NodeEventSubject(id), bus.TopicSubject(kind, string(id))} {
			if sub, err := f.bus.ChanSubscribe(subject, f.events); err == nil { // fails only once the bus is closed
				u.subs = append(u.subs, sub)
			}
		}
	}
	u.listeners[ch] = true
	return u, first
}

// begin learns what there is, once announcements are heard.
func (f *Feed) begin(ctx context.Context, id ids.UserID, u *user) {
	ctx, cancel := context.WithTimeout(ctx, joinTimeout)
	defer cancel()
	if err := f.bus.FlushWithContext(ctx); err != nil {
		f.log.Warn("changes of a user's tools are followed without the bus", "error", err)
	}
	nodes, err := f.registry.List(ctx, &nodev1.ListNodesRequest{UserId: string(id)})
	if err != nil {
		return // then the first word of each device counts as a change
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, n := range nodes {
		if _, heard := u.devices[n.GetInfo().GetNodeId()]; !heard {
			u.devices[n.GetInfo().GetNodeId()] = word{hash: f.hash(n)}
		}
	}
}

// drop is called with mu held.
func (f *Feed) drop(id ids.UserID, u *user) {
	for _, sub := range u.subs {
		_ = sub.Unsubscribe() // fails where the connection is closed, and the subscription with it
	}
	if u.later != nil {
		u.later.Stop()
	}
	delete(f.users, id)
}

// Announce tells the listeners of all pods of a change that is none of devices.
func (f *Feed) Announce(id ids.UserID) {
	if err := f.bus.Publish(bus.TopicSubject(kind, string(id)), nil); err != nil {
		f.log.Warn("a change of a user's tools does not reach other pods", "error", err)
		f.changed(id, "", word{})
	}
}

func (f *Feed) serve() {
	for {
		select {
		case m := <-f.events:
			f.heard(m)
			if len(f.events) >= inbox-1 {
				f.tellAll()
			}
		case <-f.quit:
			return
		}
	}
}

func (f *Feed) heard(m *nats.Msg) {
	if id := bus.TopicID(m.Subject); id != "" {
		f.changed(ids.UserID(id), "", word{})
		return
	}
	var e nodev1.NodeEvent
	if err := proto.Unmarshal(m.Data, &e); err != nil {
		f.log.Warn("an announcement of the registry cannot be read", "error", err)
		return
	}
	said := word{at: e.GetAt().AsTime().UnixMilli()}
	if e.GetKind() != nodev1.NodeEvent_KIND_OFFLINE {
		said.hash = f.hash(e.GetNode())
	}
	f.changed(ids.UserID(e.GetUserId()), e.GetNode().GetInfo().GetNodeId(), said)
}

// hash is that of what a device says of itself, apart from how busy it is.
func (f *Feed) hash(n *nodev1.Node) uint64 {
	raw, _ := proto.MarshalOptions{Deterministic: true}.Marshal(n.GetInfo()) // what was read can be written
	if n.GetStatus() == nodev1.NodeStatus_NODE_STATUS_OFFLINE {
		raw = append(raw, 0)
	}
	return max(1, maphash.Bytes(f.seed, raw))
}

// changed tells a user's listeners, unless nothing is new about the device; "" is for a change of something else.
func (f *Feed) changed(id ids.UserID, device string, said word) {
	f.mu.Lock()
	defer f.mu.Unlock()
	u := f.users[id]
	if u == nil {
		return
	}
	if device != "" {
		before, known := u.devices[device]
		behind := before.at - said.at
		switch {
		case known && behind > 0 && behind < disorder: // overtaken by what has been told
			return
		case known && before.hash == said.hash:
			u.devices[device] = said
			return
		case known && behind == 0:
			said.hash = unsure
		}
		u.devices[strings.Clone(device)] = said
		f.trim(u)
	}
	f.tell(u)
}

// maxDevices bounds what is known of a user's devices, most of which are gone then. Of one that is forgotten the next word is news.
const maxDevices = 64

// trim is called with mu held.
func (f *Feed) trim(u *user) {
	if len(u.devices) <= maxDevices {
		return
	}
	for device, said := range u.devices {
		if said.hash == 0 {
			delete(u.devices, device)
		}
	}
	if len(u.devices) > maxDevices {
		clear(u.devices)
	}
}

// tell is called with mu held.
func (f *Feed) tell(u *user) {
	if u.later != nil {
		return // soon
	}
	if wait := gap - time.Since(u.told); wait > 0 {
		u.later = time.AfterFunc(wait, func() {
			f.mu.Lock()
			defer f.mu.Unlock()
			u.later = nil
			u.tell()
		})
		return
	}
	u.tell()
}

func (u *user) tell() {
	u.told = time.Now()
	for ch := range u.listeners {
		select {
		case ch <- struct{}{}:
		default: // it has not looked yet
		}
	}
}

func (f *Feed) tellAll() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, u := range f.users {
		f.tell(u)
	}
}
