package http1

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/security/connlimit"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/direct"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/inbox"
)

// lingering is how long a connection whose client may still be sending is kept half open, so that the answer is read before the
// system resets it.
const lingering = 500 * time.Millisecond

// blanksAfterPost are what net/http forgives old clients, which end a body with a line break that they do not count.
const blanksAfterPost = 4

// state is where a connection stands.
type state int

const (
	waiting state = iota // for a request: a shutdown may close it
	serving
	closed // or handed over
)

// conn is a connection whose requests have all been ordinary.
type conn struct {
	*connlimit.Conn

	// Static after newConn.
	server *Server
	raw    syscall.RawConn
	ctx    context.Context
	remote string

	// Of the serving goroutine, and its handler.
	in        *inbox.Inbox
	out       *direct.Writer
	readUntil time.Time // the socket's deadline for reading
	linger    bool
	blanks    int    // how many bytes of line breaks may come before the next head
	number    uint64 // the watcher's; 0 for one that is not watched

	mu     sync.Mutex
	state  state
	gone   bool
	cancel context.CancelFunc // of the request that is served

	// A write that waits has the deadline; guarded by mu.
	writeUntil time.Time
	stuck      bool
}

func (s *Server) newConn(nc *connlimit.Conn) (*conn, error) {
	c := &conn{Conn: nc, server: s, remote: nc.RemoteAddr().String()}
	var err error
	if c.raw, err = nc.SyscallConn(); err != nil {
		return nil, err
	}
	if c.in, err = inbox.New(nc); err != nil {
		return nil, err
	}
	c.out = direct.New(nc)
	c.ctx = s.http.ConnContext(context.WithValue(context.Background(), http.LocalAddrContextKey, nc.LocalAddr()), nc)
	return c, nil
}

// serve begins to answer a new connection's requests.
func (c *conn) serve() {
	_ = c.setReadDeadline(time.Now().Add(c.server.http.ReadHeaderTimeout)) // where this fails, so does the first read
	c.serveOn()
}

// serveOn answers requests until the connection ends, is handed over, or is another goroutine's.
func (c *conn) serveOn() {
	for {
		n, found := c.readHead()
		if n == 0 && found == partial || !c.enter() {
			break
		}
		r := new(http.Request)
		if found == foreign || !parse(string(c.in.Bytes()[:n]), r) {
			c.handOver()
			return
		}
		c.in.Skip(n)
		c.blanks = 0
		if r.Method == http.MethodPost {
			c.blanks = blanksAfterPost
		}
		a := c.begin(r)
		whole := a.run(func() { c.server.http.Handler.ServeHTTP(a.w, a.r) })
		if whole && a.w.later != nil {
			a.r = nil // most of it is garbage while the handler goes on
			c.server.work.Go(func() { c.resume(a) })
			return
		}
		if !a.end(whole) || !c.rest() {
			break
		}
	}
	c.end()
}

// resume lets a handler go on where it asked for that, and then the connection: on a goroutine whose stack is still small.
func (c *conn) resume(a *answer) {
	if a.w.status != 0 {
		a.w.header = http.Header{} // it has been used
	}
	whole := a.run(func() { a.w.later(a.ctx) })
	if !a.end(whole) || !c.rest() {
		c.end()
		return
	}
	c.serveOn()
}

// readHead reads until a head is whole, and returns its length. partial with no length is the connection's end.
func (c *conn) readHead() (n int, found end) {
	begun := false
	for {
		for b := c.in.Bytes(); len(b) > 0 && c.blanks > 0; b = c.in.Bytes() {
			if c.blanks--; b[0] != '\r' && b[0] != '\n' {
				c.blanks = 0
				break
			}
			c.in.Skip(1)
		}
		if n, found = endOf(c.in.Bytes()); found != partial {
			return n, found
		}
		if c.in.Len() == inbox.Size {
			return 0, foreign // net/http has more room
		}
		if c.in.Len() > 0 && !begun { // from now on it has to come
			begun = true
			if c.setReadDeadline(time.Now().Add(c.server.http.ReadHeaderTimeout)) != nil {
				return 0, partial
			}
		}
		if c.in.Fill() != nil {
			return 0, partial
		}
	}
}

// enter says that a request has come, and reports whether it may be served.
func (c *conn) enter() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state == closed || c.server.stopping.Load() {
		return false
	}
	c.state = serving
	return true
}

// attend has cancel called when the client goes away.
func (c *conn) attend(cancel context.CancelFunc) {
	if c.number == 0 {
		if err := c.server.watch.add(c); err != nil {
			c.server.log("a client that goes away would not be noticed: " + err.Error())
		}
	}
	c.mu.Lock()
	c.cancel = cancel
	gone := c.gone
	c.mu.Unlock()
	if gone {
		cancel()
	}
}

// rest says that a request is over, and reports whether the connection waits for another.
func (c *conn) rest() bool {
	c.mu.Lock()
	c.cancel = nil
	if c.state == closed || c.server.stopping.Load() {
		c.mu.Unlock()
		return false
	}
	c.state = waiting
	c.mu.Unlock()
	idle := c.server.http.IdleTimeout
	now := time.Now()
	if left := c.readUntil.Sub(now); left >= idle && left < idle+idle/8 { // moving it each time has a price
		return true
	}
	return c.setReadDeadline(now.Add(idle+idle/10)) == nil
}

// hungUp is the watcher's word.
func (c *conn) hungUp() {
	c.mu.Lock()
	c.gone = true
	cancel := c.cancel
	c.mu.Unlock()
	if cancel != nil {
		cancel()
	}
}

// leave closes a connection that serves nothing, for a shutdown.
func (c *conn) leave(all bool) {
	c.mu.Lock()
	idle := c.state == waiting
	cancel := c.cancel
	if idle || all {
		c.state = closed
	}
	c.mu.Unlock()
	if !idle && !all {
		return
	}
	if cancel != nil {
		cancel()
	}
	_ = c.Conn.Close() // whoever reads or writes hears of it
}

// end closes the connection.
func (c *conn) end() {
	c.mu.Lock()
	c.state = closed
	c.mu.Unlock()
	if c.linger && c.CloseWrite() == nil {
		select {
		case <-time.After(lingering):
		case <-c.server.quit:
		}
	}
	c.in.Skip(inbox.Size)
	if c.number != 0 {
		c.server.watch.forget(c)
	}
	c.server.giveUp(c.Conn)
	c.server.forget(c)
}

// handOver gives the connection to net/http, with all that was read.
func (c *conn) handOver() {
	defer c.server.forget(c)
	if c.number != 0 {
		c.server.watch.remove(c)
	}
	_ = c.setReadDeadline(time.Time{})
	next := &handed{Conn: c.Conn, early: append([]byte(nil), c.in.Bytes()...)}
	c.in.Skip(inbox.Size)
	c.mu.Lock()
	over := c.state == closed
	c.state = closed
	c.mu.Unlock()
	if over || !c.server.other.give(next) {
		c.server.giveUp(c.Conn)
		return
	}
	c.server.changed(c.Conn, http.StateHijacked)
}

func (c *conn) setReadDeadline(t time.Time) error {
	c.readUntil = t
	return c.SetReadDeadline(t)
}

// setWriteDeadline is used by the write that waits, and the next ones.
func (c *conn) setWriteDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writeUntil = t
	if c.stuck {
		return c.SetWriteDeadline(t)
	}
	return nil
}

// write writes all pieces. Most answers find room in the socket's buffer: only one that does not needs a deadline.
func (c *conn) write(pieces [][]byte) error {
	if len(pieces) == 0 {
		return nil
	}
	if len(pieces) == 1 {
		n := c.out.Write(pieces[0])
		if n == len(pieces[0]) {
			return nil
		}
		pieces[0] = pieces[0][n:]
	}
	if err := c.wait(true); err != nil {
		return err
	}
	rest := net.Buffers(pieces)
	_, err := rest.WriteTo(c.Conn)
	return errors.Join(err, c.wait(false))
}

// wait begins and ends a write that may have to wait.
func (c *conn) wait(stuck bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stuck = stuck
	if c.writeUntil.IsZero() {
		return nil
	}
	if !stuck {
		return c.SetWriteDeadline(time.Time{})
	}
	return c.SetWriteDeadline(c.writeUntil)
}
