package connlimit

import (
	"container/list"
	"context"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/pkg/process/options"
)

// young is how long a new connection cannot be closed for another one: on a busy machine, a client needs that long to
// authenticate.
const young = 2 * time.Second

// quiet is the least time between two lines in the log about connections that were refused.
const quiet = 10 * time.Second

// Config says how many connections may be open whose client is not known. 0 is no limit.
type Config struct {
	// PerAddress is for one client address; of IPv6, for one network of 64 bits.
	PerAddress int
	// InAll is for all addresses together.
	InAll int
	// Proxies stand before many clients; their addresses have no limit of their own.
	Proxies []netip.Prefix
	// Name of the port, in logs.
	Name   string
	Logger *slog.Logger // nil means discard
}

// Limit counts the connections of one port whose client is not known. It is safe for concurrent use.
type Limit struct {
	cfg     Config
	log     *slog.Logger
	refused atomic.Int64

	mu        sync.Mutex
	all       list.List // of *Conn, the oldest first
	addresses map[netip.Prefix]*list.List
	told      time.Time // when the log last heard of a refusal
}

// New returns a limit.
func New(cfg Config) (*Limit, error) {
	err := options.NotNegative("connlimit", map[string]int64{"PerAddress": int64(cfg.PerAddress), "InAll": int64(cfg.InAll)})
	if err != nil {
		return nil, err
	}
	return &Limit{cfg: cfg, log: obs.OrDiscard(cfg.Logger), addresses: make(map[netip.Prefix]*list.List)}, nil
}

// Open returns how many connections are open whose client is not known.
func (l *Limit) Open() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.Len()
}

// Refused returns how many connections were closed because there were too many.
func (l *Limit) Refused() int64 { return l.refused.Load() }

// Listen returns ln with the limit on what it accepts. TCP connections stay what they are, apart from that.
func (l *Limit) Listen(ln net.Listener) net.Listener { return &listener{ln, l} }

type listener struct {
	net.Listener
	limit *Limit
}

func (l *listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		tcp, ok := c.(*net.TCPConn)
		if !ok {
			return c, nil
		}
		if known := l.limit.enter(tcp); known != nil {
			return known, nil
		}
		_ = tcp.Close() // it was not let in
	}
}

// enter returns nil where there is no place.
func (l *Limit) enter(tcp *net.TCPConn) *Conn {
	c := &Conn{TCPConn: tcp, limit: l, since: time.Now(), address: addressOf(tcp.RemoteAddr())}
	l.mu.Lock()
	var evicted []*Conn
	place := l.makePlace(&evicted, &l.all, l.cfg.InAll)
	own := l.addresses[c.address]
	if own == nil {
		own = new(list.List)
	}
	if place && !l.proxy(c.address) {
		place = l.makePlace(&evicted, own, l.cfg.PerAddress)
	}
	if place {
		l.addresses[c.address] = own // it may have become empty, and been forgotten, just above
		c.inAll, c.inOwn, c.own = l.all.PushBack(c), own.PushBack(c), own
	}
	tell := (!place || len(evicted) > 0) && time.Since(l.told) > quiet
	if tell {
		l.told = time.Now()
	}
	l.mu.Unlock()

	for _, old := range evicted {
		_ = old.TCPConn.Close() // whoever serves it hears of it
	}
	if !place {
		l.refused.Add(1)
	}
	l.refused.Add(int64(len(evicted)))
	if tell {
		l.log.Warn("too many connections without a known user; closing some", "port", l.cfg.Name,
			"address", c.address.Addr().String(), "closed", l.Refused())
	}
	if !place {
		return nil
	}
	return c
}

// makePlace makes room for one more among some: where there is none, the oldest goes that is no longer young. It is called
// with mu held.
func (l *Limit) makePlace(evicted *[]*Conn, some *list.List, limit int) bool {
	if limit == 0 || some.Len() < limit {
		return true
	}
	oldest := some.Front().Value.(*Conn)
	if time.Since(oldest.since) < young {
		return false
	}
	oldest.leave()
	*evicted = append(*evicted, oldest)
	return true
}

func (l *Limit) proxy(address netip.Prefix) bool {
	for _, p := range l.cfg.Proxies {
		if p.Contains(address.Addr()) {
			return true
		}
	}
	return false
}

// addressOf is what is counted as one client.
func addressOf(a net.Addr) netip.Prefix {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.Prefix{}
	}
	ip := tcp.AddrPort().Addr().Unmap().WithZone("")
	bits := ip.BitLen()
	if ip.Is6() {
		bits = 64
	}
	p, _ := ip.Prefix(bits) // the zero address has none
	return p
}

// Conn is a connection that a limit has let in. Its client is unknown until [Conn.Known].
type Conn struct {
	*net.TCPConn // with all that package net knows of it, such as writing several buffers at once

	// Static after enter.
	limit   *Limit
	since   time.Time
	address netip.Prefix

	known atomic.Bool // or closed

	// Guarded by the limit's mu; nil once the connection no longer counts.
	inAll, inOwn *list.Element
	own          *list.List
}

// Known says that the client has authenticated. The connection no longer counts.
func (c *Conn) Known() {
	if c.known.Load() {
		return
	}
	c.known.Store(true)
	c.limit.mu.Lock()
	defer c.limit.mu.Unlock()
	c.leave()
}

// Close closes the connection.
func (c *Conn) Close() error {
	c.Known()
	return c.TCPConn.Close()
}

// leave is called with the limit's mu held.
func (c *Conn) leave() {
	if c.inAll == nil {
		return
	}
	c.limit.all.Remove(c.inAll)
	c.own.Remove(c.inOwn)
	if c.own.Len() == 0 {
		delete(c.limit.addresses, c.address)
	}
	c.inAll, c.inOwn, c.own = nil, nil, nil
}

// RemoteAddr is an address by which [Known] finds the connection.
func (c *Conn) RemoteAddr() net.Addr { return addr{c.TCPConn.RemoteAddr(), c} }

type addr struct {
	net.Addr
	conn *Conn
}

type contextKey struct{}

// Context is for [http.Server.ConnContext]: it lets [Known] find the connection of a request.
func Context(ctx context.Context, c net.Conn) context.Context {
	if conn, ok := c.(interface{ Known() }); ok { // a *Conn, or what holds one
		return context.WithValue(ctx, contextKey{}, conn)
	}
	return ctx
}

// Known is [Conn.Known] for the connection on which a request came.
func Known(ctx context.Context) {
	if c, ok := ctx.Value(contextKey{}).(interface{ Known() }); ok {
		c.Known()
	}
}

// KnownPeer is [Conn.Known] for the connection that has this remote address.
func KnownPeer(a net.Addr) {
	if known, ok := a.(addr); ok {
		known.conn.Known()
	}
}
