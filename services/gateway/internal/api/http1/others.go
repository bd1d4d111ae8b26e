package http1

import (
	"io"
	"net"
	"sync"

	"github.com/hecaton-dev/hecaton/pkg/security/connlimit"
)

// others is the listener from which net/http gets the connections that are not ordinary.
type others struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func newOthers() *others { return &others{conns: make(chan net.Conn), done: make(chan struct{})} }

// give reports false once nobody takes connections any more.
func (o *others) give(c net.Conn) bool {
	select {
	case o.conns <- c:
		return true
	case <-o.done:
		return false
	}
}

// Accept implements [net.Listener].
func (o *others) Accept() (net.Conn, error) {
	select {
	case c := <-o.conns:
		return c, nil
	case <-o.done:
		return nil, net.ErrClosed
	}
}

// Close implements [net.Listener].
func (o *others) Close() error {
	o.once.Do(func() { close(o.done) })
	return nil
}

// Addr implements [net.Listener].
func (o *others) Addr() net.Addr { return &net.TCPAddr{} }

// handed is a connection of which something has been read already.
type handed struct {
	*connlimit.Conn
	early []byte // belongs to the reader
}

func (c *handed) Read(p []byte) (int, error) {
	if len(c.early) == 0 {
		return c.Conn.Read(p)
	}
	n := copy(p, c.early)
	if c.early = c.early[n:]; len(c.early) == 0 {
		c.early = nil
	}
	return n, nil
}

// WriteTo keeps the connection's own from passing over what has been read.
func (c *handed) WriteTo(w io.Writer) (int64, error) {
	return io.Copy(w, struct{ io.Reader }{c})
}

// Rest returns the connection below, and what was read of it and belongs to nobody yet. Who takes over the connection uses that in its place.
func (c *handed) Rest() (net.Conn, []byte) { return c.Conn, c.early }
