package mcp

import (
	"crypto/sha256"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/hecaton-dev/hecaton/pkg/ids"
)

const (
	// idleTimeout is how long a saved server that nobody uses keeps its connection.
	idleTimeout = 5 * time.Minute
	// maxIdle and maxIdlePerUser are how many servers keep one while nobody uses them.
	maxIdle        = 256
	maxIdlePerUser = 16
)

// pool keeps the connections to saved servers between those who use them. Each belongs to one user and one configuration, with its
// keys: whoever has another user, or another key, has another connection.
type pool struct {
	// static after construction
	opts *Options
	idle time.Duration

	closing sync.WaitGroup // servers that are being closed

	mu      sync.Mutex
	entries map[poolKey]*entry // guarded by mu
	closed  bool               // guarded by mu
}

type poolKey struct {
	user          ids.UserID
	configuration [sha256.Size]byte
}

// entry is a server in the pool; guarded by the pool's mu.
type entry struct {
	key    poolKey
	id     string // of the configuration
	server *server
	users  int
	since  time.Time   // when the last one left
	end    *time.Timer // ends an entry that nobody uses; nil while somebody does
}

// lease is the use of a server. It is given back once.
type lease struct {
	*server
	kept     bool // the connection stays when it is given back
	giveBack func()
}

func newPool(o *Options, idle time.Duration) *pool {
	return &pool{opts: o, idle: idle, entries: map[poolKey]*entry{}}
}

// keyOf is the same for the same connection only: of one user, to one address, with the same keys.
func keyOf(user ids.UserID, config Server) poolKey {
	raw, _ := proto.MarshalOptions{Deterministic: true}.Marshal(config.McpServer) // what was read can be written
	hash := sha256.New()
	_, _ = hash.Write(append(raw, 0)) // never fails
	if config.Trusted {
		_, _ = hash.Write([]byte{1})
	}
	_, _ = hash.Write([]byte(config.ID))
	k := poolKey{user: user}
	hash.Sum(k.configuration[:0])
	return k
}

// take returns a user's server. One that came with a request has a connection of its own, which ends when it is given back.
func (p *pool) take(user ids.UserID, config Server) *lease {
	if config.ID == "" {
		s := newServer(p.opts, config)
		return &lease{s, false, s.close}
	}
	key := keyOf(user, config)
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.entries[key]
	if e == nil {
		e = &entry{key: key, id: config.ID, server: newServer(p.opts, config)}
		if p.closed {
			e.server.retire()
		} else {
			p.entries[key] = e
		}
	}
	if e.users++; e.end != nil {
		e.end.Stop()
		e.end = nil
	}
	return &lease{e.server, true, func() { p.put(e) }}
}

func (p *pool) put(e *entry) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e.users--; e.users > 0 {
		return
	}
	if p.entries[e.key] != e { // it was retired meanwhile
		p.close(e)
		return
	}
	e.since = time.Now()
	e.end = time.AfterFunc(p.idle, func() { p.expire(e) })
	p.makeRoom(e.key.user)
}

func (p *pool) expire(e *entry) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e.users == 0 && p.entries[e.key] == e && time.Since(e.since) >= p.idle {
		p.remove(e)
	}
}

// makeRoom ends the servers that nobody has used for longest, of a user and of all, if there are too many. It is called with mu held.
func (p *pool) makeRoom(user ids.UserID) {
	var oldest, oldestOfUser *entry
	idle, idleOfUser := 0, 0
	for _, e := range p.entries {
		if e.users > 0 {
			continue
		}
		if idle++; oldest == nil || e.since.Before(oldest.since) {
			oldest = e
		}
		if e.key.user != user {
			continue
		}
		if idleOfUser++; oldestOfUser == nil || e.since.Before(oldestOfUser.since) {
			oldestOfUser = e
		}
	}
	switch {
	case idleOfUser > maxIdlePerUser:
		p.remove(oldestOfUser)
	case idle > maxIdle:
		p.remove(oldest)
	}
}

// remove is called with mu held.
func (p *pool) remove(e *entry) {
	delete(p.entries, e.key)
	if e.end != nil {
		e.end.Stop()
	}
	e.server.retire()
	if e.users == 0 {
		p.close(e)
	}
}

// close is called with mu held, or once nobody else can.
func (p *pool) close(e *entry) { p.closing.Go(e.server.close) }

// retire ends a user's servers of one configuration, which was changed or removed; "" stands for all configurations of all users, of which
// only those are ended that nobody uses.
func (p *pool) retire(user ids.UserID, id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range p.entries {
		if e.key.user == user && e.id == id || id == "" && e.users == 0 {
			p.remove(e)
		}
	}
}

// shut retires all servers, and waits for the end of those that nobody uses.
func (p *pool) shut() {
	p.mu.Lock()
	p.closed = true
	for _, e := range p.entries {
		p.remove(e)
	}
	p.mu.Unlock()
	p.closing.Wait()
}
