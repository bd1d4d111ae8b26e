package pictures

import (
	"github.com/nats-io/nats.go"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
)

// newsKind is that of the topic, by user, on which a pod says that a node has another picture; the body is the node's id.
const newsKind = "mcp-pictured"

// followed is a user whose nodes' pictures somebody follows here; guarded by the keeper's mu.
type followed struct {
	sub       *nats.Subscription // nil where the bus would not have it
	listeners map[*Listener]bool
}

// Listener hears of new pictures.
type Listener struct {
	// News has something in it after a change.
	News chan struct{}

	k       *Keeper
	changed map[ids.NodeID]bool // guarded by the keeper's mu
}

// Follow returns what hears of new pictures of a user's nodes, until leave is called.
func (k *Keeper) Follow(user ids.UserID) (l *Listener, leave func()) {
	l = &Listener{News: make(chan struct{}, 1), k: k, changed: map[ids.NodeID]bool{}}
	k.mu.Lock()
	defer k.mu.Unlock()
	f := k.users[user]
	if f == nil {
		f = &followed{listeners: map[*Listener]bool{}}
		if !k.closed {
			f.sub, _ = k.bus.Subscribe(bus.TopicSubject(newsKind, string(user)), k.heard) // fails only once the bus is closed
		}
		k.users[user] = f
	}
	f.listeners[l] = true
	return l, func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		if delete(f.listeners, l); len(f.listeners) == 0 && k.users[user] == f {
			k.drop(user)
		}
	}
}

// drop is called with mu held.
func (k *Keeper) drop(user ids.UserID) {
	if sub := k.users[user].sub; sub != nil {
		_ = sub.Unsubscribe() // fails where the connection is closed, and the subscription with it
	}
	delete(k.users, user)
}

// Changed returns the nodes that have another picture since it was called last.
func (l *Listener) Changed() (nodes []ids.NodeID) {
	l.k.mu.Lock()
	defer l.k.mu.Unlock()
	for n := range l.changed {
		nodes = append(nodes, n)
	}
	clear(l.changed)
	return nodes
}

// tell says on all pods that a node has another picture.
func (k *Keeper) tell(key ids.Node) {
	k.hear(key)
	if err := k.bus.Publish(bus.TopicSubject(newsKind, string(key.User)), []byte(key.Node)); err != nil {
		k.log.Debug("other pods do not hear of a picture", "error", err)
	}
}

func (k *Keeper) heard(m *nats.Msg) {
	k.hear(ids.Node{User: ids.UserID(bus.TopicID(m.Subject)), Node: ids.NodeID(m.Data)})
}

func (k *Keeper) hear(key ids.Node) {
	k.mu.Lock()
	defer k.mu.Unlock()
	f := k.users[key.User]
	if f == nil {
		return
	}
	for l := range f.listeners {
		l.changed[key.Node] = true
		select {
		case l.News <- struct{}{}:
		default: // it has not looked yet
		}
	}
}
