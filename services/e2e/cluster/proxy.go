package cluster

import (
	"errors"
	"net"
	"sync"
	"testing"
)

// Proxy is a TCP proxy that a test can cut or freeze, so that one pod loses a server that the others still have.
type Proxy struct {
	to   string
	ln   net.Listener
	work sync.WaitGroup

	mu     sync.Mutex
	cut    bool
	frozen chan struct{} // closed when bytes flow again; nil while they do
	open   map[net.Conn]struct{}
}

// NewProxy starts a proxy to an address; it ends with the test.
func NewProxy(t testing.TB, to string) *Proxy {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	p := &Proxy{to: to, ln: ln, open: make(map[net.Conn]struct{})}
	p.work.Go(p.accept)
	t.Cleanup(func() {
		_ = ln.Close()
		p.Cut()
		p.Heal()
		p.work.Wait()
	})
	return p
}

// Addr is where the proxy listens.
func (p *Proxy) Addr() string { return p.ln.Addr().String() }

// Cut breaks every connection and refuses new ones.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = true
	for c := range p.open {
		_ = c.Close()
	}
}

// Freeze keeps connections open and lets nothing through: neither end is told.
func (p *Proxy) Freeze() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.frozen == nil {
		p.frozen = make(chan struct{})
	}
}

// Heal lets connections, and what they hold, through again.
func (p *Proxy) Heal() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = false
	if p.frozen != nil {
		close(p.frozen)
		p.frozen = nil
	}
}

// pass copies until either end is closed.
func (p *Proxy) pass(to, from net.Conn) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		p.mu.Lock()
		frozen := p.frozen
		p.mu.Unlock()
		if frozen != nil {
			<-frozen
		}
		if n > 0 {
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (p *Proxy) accept() {
	for {
		from, err := p.ln.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err == nil {
			p.work.Go(func() { p.serve(from) })
		}
	}
}

func (p *Proxy) serve(from net.Conn) {
	defer from.Close()
	to, err := net.Dial("tcp", p.to)
	if err != nil {
		return
	}
	defer to.Close()
	if !p.admit(from, to) {
		return
	}
	defer p.forget(from, to)
	var back sync.WaitGroup
	back.Go(func() {
		p.pass(from, to)
		_ = from.Close()
	})
	p.pass(to, from)
	_ = to.Close()
	back.Wait()
}

func (p *Proxy) admit(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		if !p.cut {
			p.open[c] = struct{}{}
		}
	}
	return !p.cut
}

func (p *Proxy) forget(conns ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		delete(p.open, c)
	}
}
