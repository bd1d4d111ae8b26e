package directory

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
)

const (
	// lifetime is how long an answer of the registry may be used.
	lifetime = 2 * time.Second
	// propagation is how long a subscription may take to be known to all servers of the bus. What the registry says before
	// is not remembered, since a change right after it could pass unheard.
	propagation = 100 * time.Millisecond
	// idle is how long a user without such calls stays watched, and sweepEvery how often those are looked for.
	idle       = time.Minute
	sweepEvery = 15 * time.Second
	// maxUsers bounds the users that are watched: each is a subscription. Calls of others ask the registry.
	maxUsers = 10_000
	// eventsLimit is how many announcements may wait to be read. More are dropped, as if they had been lost.
	eventsLimit = 64 << 10
)

// Registry is where the answers come from.
type Registry interface {
	Resolve(context.Context, *nodev1.ResolveNodeRequest) (*nodev1.ResolveNodeResponse, error)
	List(context.Context, *nodev1.ListNodesRequest) ([]*nodev1.Node, error)
	Session(context.Context, *nodev1.GetSessionRequest) (*nodev1.GetSessionResponse, error)
}

// Options are what a Directory is made of; all are required.
type Options struct {
	Registry Registry
	Bus      *bus.Conn
}

// Directory answers as the registry does. It is safe for concurrent use.
type Directory struct {
	// Static after construction.
	Registry // asked each time, but for Resolve
	bus      *bus.Conn
	events   chan *nats.Msg // of all users; read by watch

	mu     sync.Mutex
	users  map[string]*user // by the subject of their events
	closed bool

	quit chan struct{}
	work sync.WaitGroup
}

// user is what is remembered of one user; guarded by the directory's mu.
type user struct {
	sub     *nats.Subscription
	since   time.Time // of the subscription
	used    time.Time
	changes uint64 // that were heard of
	first   map[nodev1.NodeType]answer
}

// forget is called with the directory's mu held.
func (u *user) forget() {
	u.changes++
	clear(u.first)
}

type answer struct {
	node  ids.NodeID
	until time.Time
}

// New returns a Directory. Close it before its bus.
func New(o Options) (*Directory, error) {
	if o.Registry == nil || o.Bus == nil {
		return nil, fmt.Errorf("directory: Registry and Bus are required")
	}
	d := &Directory{
		Registry: o.Registry, bus: o.Bus, events: make(chan *nats.Msg, eventsLimit), users: make(map[string]*user),
		quit: make(chan struct{}),
	}
	o.Bus.OnReconnect(d.forgetAll)
	d.work.Go(d.watch)
	return d, nil
}

// Close ends the subscriptions. Afterwards every question goes to the registry.
func (d *Directory) Close() {
	close(d.quit)
	d.work.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	for subject := range d.users {
		d.drop(subject)
	}
}

// Resolve picks the node of a call, as the registry does.
func (d *Directory) Resolve(ctx context.Context, r *nodev1.ResolveNodeRequest) (*nodev1.ResolveNodeResponse, error) {
	if r.GetSessionId() != "" || r.GetPreferredNodeId() != "" || !d.bus.Up() {
		return d.Registry.Resolve(ctx, r)
	}
	subject := bus.NodeEventSubject(ids.UserID(r.GetUserId()))
	node, changes := d.recall(subject, r.GetNodeType())
	if node != "" {
		return &nodev1.ResolveNodeResponse{NodeId: string(node)}, nil
	}
	resp, err := d.Registry.Resolve(ctx, r)
	if err == nil && resp.GetNodeId() != "" {
		d.remember(subject, r.GetNodeType(), ids.NodeID(resp.GetNodeId()), changes)
	}
	return resp, err
}

// Forget makes the next call ask the registry: a call did not find the node.
func (d *Directory) Forget(n ids.Node) { d.changed(bus.NodeEventSubject(n.User)) }

// recall returns what is remembered, or how many changes were heard of so far.
func (d *Directory) recall(subject string, kind nodev1.NodeType) (node ids.NodeID, changes uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	u := d.users[subject]
	if u == nil {
		u = d.follow(subject)
		if u == nil {
			return "", 0
		}
	}
	u.used = time.Now()
	if a, ok := u.first[kind]; ok && u.used.Before(a.until) {
		return a.node, 0
	}
	return "", u.changes
}

// follow hears of a user's nodes from now on. It is called with mu held and returns nil where that is not possible.
func (d *Directory) follow(subject string) *user {
	if d.closed || len(d.users) >= maxUsers {
		return nil
	}
	sub, err := d.bus.ChanSubscribe(subject, d.events)
	if err != nil {
		return nil
	}
	u := &user{sub: sub, since: time.Now(), first: make(map[nodev1.NodeType]answer)}
	d.users[subject] = u
	return u
}

// remember keeps an answer that was asked for after so many changes, unless there were more meanwhile.
func (d *Directory) remember(subject string, kind nodev1.NodeType, node ids.NodeID, changes uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	u, now := d.users[subject], time.Now()
	// The registry was asked after recall, which is when the subscription was old enough or not.
	if u != nil && u.changes == changes && u.used.Sub(u.since) > propagation {
		u.first[kind] = answer{node, now.Add(lifetime)}
	}
}

// watch hears of changes, and ends what nobody uses any more.
func (d *Directory) watch() {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		select {
		case m := <-d.events:
			d.changed(m.Subject)
		case now := <-tick.C:
			d.sweep(now)
		case <-d.quit:
			return
		}
	}
}

func (d *Directory) changed(subject string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if u := d.users[subject]; u != nil {
		u.forget()
	}
}

func (d *Directory) forgetAll() {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now()
	for _, u := range d.users {
		u.forget()
		u.since = now // the other servers have to hear of the subscription again
	}
}

func (d *Directory) sweep(now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for subject, u := range d.users {
		if now.Sub(u.used) > idle {
			d.drop(subject)
		}
	}
}

// drop is called with mu held.
func (d *Directory) drop(subject string) {
	_ = d.users[subject].sub.Unsubscribe() // fails where the connection is closed, and the subscription with it
	delete(d.users, subject)
}
