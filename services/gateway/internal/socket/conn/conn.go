package conn

import (
	"context"
	"errors"
	"math"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/frame"
)

// Config is shared by all connections of one kind of client.
type Config struct {
	// MaxFrame is the largest frame in either direction, in bytes; exactly this many pass.
	MaxFrame int64
	// MaxQueued bounds what waits to be written to one client, in bytes. A single frame always fits.
	MaxQueued int
	// WriteTimeout bounds each write to the socket.
	WriteTimeout time.Duration
	// MaxControlRate is how many frames a second a client may send that nobody asked for; more are read later.
	MaxControlRate int
	// Budget bounds the bytes of large frames in flight.
	Budget *frame.Budget
	// Binary says that frames are binary messages, in both directions. Otherwise they are text.
	Binary bool
	// OnDropped is called for each message of the other type, which is dropped.
	OnDropped func()
}

// messages is the type of messages that frames are.
func (c *Config) messages() websocket.MessageType {
	if c.Binary {
		return websocket.MessageBinary
	}
	return websocket.MessageText
}

// ErrClosed is returned by Send once the connection is ending: the frame was not written.
var ErrClosed = errors.New("conn: closed")

// Note is told when a frame's bytes may begin to reach the socket. Writing is called under the connection's lock
// and before [Conn.Close] takes effect: once Close has returned, no further frame begins.
type Note interface{ Writing() }

type outgoing struct {
	data []byte
	note Note
}

// Conn is one WebSocket connection. Send, Close and Seen may be called from anywhere; Serve once.
type Conn struct {
	// Static after construction.
	ws   *websocket.Conn
	wire *wire
	cfg  *Config
	// Owner is whose large frames the connection brings; set before Serve.
	Owner frame.Owner

	seen atomic.Int64 // Unix nanoseconds of the last sign of life
	ends atomic.Int64 // Unix nanoseconds; 0 where its token has no end

	mu      sync.Mutex
	queue   []outgoing
	queued  int
	writing bool   // a writer goroutine exists
	reason  Reason // why it ends; Open until then
	onEnd   func()
	work    sync.WaitGroup // writer, closer and onEnd
}

// Seen notes a sign of life of the client.
func (c *Conn) Seen() { c.seen.Store(time.Now().UnixNano()) }

// LastSeen returns when the client last sent anything.
func (c *Conn) LastSeen() time.Time { return time.Unix(0, c.seen.Load()) }

// EndAt says when the connection is over, since its token is; the zero time stands for never. The pod's pulse looks.
func (c *Conn) EndAt(t time.Time) {
	if t.IsZero() || t.After(never) {
		c.ends.Store(0)
		return
	}
	c.ends.Store(t.UnixNano())
}

// never is the latest time that has a number of nanoseconds. Some issuers write the year 9999.
var never = time.Unix(0, math.MaxInt64)

// EndIfOver closes the connection where its time is over, and reports whether it is.
func (c *Conn) EndIfOver(now time.Time) bool {
	ends := c.ends.Load()
	if ends == 0 || now.UnixNano() < ends {
		return false
	}
	c.Close(TokenExpired)
	return true
}

// Ends returns when the connection is over, the zero time where it has no end.
func (c *Conn) Ends() time.Time {
	if ends := c.ends.Load(); ends != 0 {
		return time.Unix(0, ends)
	}
	return time.Time{}
}

// Reason returns why the connection ends or ended, and [Open] before that.
func (c *Conn) Reason() Reason {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.reason
}

// Queued returns how many bytes wait to be written, those of the write in progress included.
func (c *Conn) Queued() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.queued
}

// Send queues a frame. It never blocks. data must not be changed afterwards. note, if not nil, is told when the
// writing begins; where Send returns an error it never does.
func (c *Conn) Send(data []byte, note Note) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reason != Open {
		return ErrClosed
	}
	if c.queued > 0 && c.queued+len(data) > c.cfg.MaxQueued {
		c.end(SlowReader)
		return ErrClosed
	}
	c.queue = append(c.queue, outgoing{data, note})
	c.queued += len(data)
	if !c.writing {
		c.writing = true
		c.work.Go(c.write)
	}
	return nil
}

// write drains the queue and ends: an idle connection has no writer.
func (c *Conn) write() {
	var batch []outgoing
	for {
		c.mu.Lock()
		for _, o := range batch {
			c.queued -= len(o.data)
		}
		if len(c.queue) == 0 || c.reason != Open {
			c.writing = false
			c.mu.Unlock()
			return
		}
		batch, c.queue = c.queue, nil
		c.mu.Unlock()

		if err := c.writeBatch(batch); err != nil {
			c.Close(failure(err))
			// The closed connection takes no more frames, so the next round ends.
		}
	}
}

func (c *Conn) writeBatch(batch []outgoing) error {
	c.wire.corked()
	var err error
	for _, o := range batch {
		if !c.begin(o.note) {
			break
		}
		// No deadline here: the wire has one for each write, without a timer and a context per frame.
		if err = c.ws.Write(context.Background(), c.cfg.messages(), o.data); err != nil {
			break
		}
	}
	return errors.Join(err, c.wire.uncork())
}

// begin passes the point from which a frame may reach the socket, unless the connection is ending.
func (c *Conn) begin(note Note) bool {
	if note == nil {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reason != Open {
		return false
	}
	note.Writing()
	return true
}

// OnEnd registers what to do when the connection begins to end; it runs at once where that is so already. Serve waits
// for it. There is one such function.
func (c *Conn) OnEnd(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reason != Open {
		c.work.Go(f)
		return
	}
	c.onEnd = f
}

// Close begins to end the connection, for the first reason it is given. It does not wait; Serve tells when it is over.
func (c *Conn) Close(reason Reason) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.end(reason)
}

// end is called with mu held.
func (c *Conn) end(reason Reason) {
	if c.reason != Open {
		return
	}
	c.reason = reason
	c.queue = nil
	if c.onEnd != nil {
		c.work.Go(c.onEnd)
	}
	c.work.Go(func() {
		if reason.Code() != 0 && reason != SlowReader && reason != ClientClosed {
			_ = c.ws.Close(websocket.StatusCode(reason.Code()), reason.Text())
		}
		_ = c.ws.CloseNow()
	})
}

// failure names the reason behind an error of the library.
func failure(err error) Reason {
	var timeout net.Error
	switch {
	case websocket.CloseStatus(err) != -1:
		return ClientClosed
	case errors.Is(err, websocket.ErrMessageTooBig):
		return FrameTooBig
	case errors.As(err, &timeout) && timeout.Timeout():
		return SlowReader
	}
	return NetworkLost
}
