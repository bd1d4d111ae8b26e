package conn

import (
	"net"
	"sync"
	"time"

	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/direct"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/inbox"
)

// corkLimit is how many bytes are gathered at most before they are written.
const corkLimit = 32 << 10

var corks = sync.Pool{New: func() any { b := make([]byte, 0, corkLimit); return &b }}

// wire is the socket below the WebSocket library. It gives every write that has to wait a deadline, and while it is corked it
// gathers the frames of one drain of the queue into a single write. The library can then do with a writer of a few bytes, where
// net/http's own would hold 4 KiB for each idle connection.
type wire struct {
	net.Conn
	timeout time.Duration
	direct  *direct.Writer // nil where the socket cannot be written to without waiting
	early   []byte         // came with the handshake; read before the socket, by the reader only
	in      *inbox.Inbox   // the reader's; nil where there is no socket

	mu    sync.Mutex
	cork  *[]byte   // borrowed from corks while corked, else nil
	until time.Time // the deadline that was set last; zero for none
}

func newWire(socket net.Conn, timeout time.Duration) *wire {
	in, _ := inbox.New(socket) // fails where there is no socket
	return &wire{Conn: socket, timeout: timeout, direct: direct.New(socket), in: in}
}

func (w *wire) Read(p []byte) (int, error) {
	if len(w.early) > 0 {
		n := copy(p, w.early)
		if w.early = w.early[n:]; len(w.early) == 0 {
			w.early = nil
		}
		return n, nil
	}
	if w.in == nil {
		return w.Conn.Read(p)
	}
	return w.in.Read(p)
}

// Write gathers or writes p. The WebSocket library calls it under its own lock; the mutex is for uncork.
func (w *wire) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cork == nil {
		return w.write(p)
	}
	if len(*w.cork)+len(p) > corkLimit {
		if err := w.flush(); err != nil {
			return 0, err
		}
		if len(p) > corkLimit/2 {
			return w.write(p)
		}
	}
	*w.cork = append(*w.cork, p...)
	return len(p), nil
}

func (w *wire) corked() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cork = corks.Get().(*[]byte)
}

func (w *wire) uncork() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	err := w.flush()
	corks.Put(w.cork)
	w.cork = nil
	return err
}

func (w *wire) flush() error {
	if len(*w.cork) == 0 {
		return nil
	}
	_, err := w.write(*w.cork)
	*w.cork = (*w.cork)[:0]
	return err
}

// write writes p, at once where the socket has room for it. What has to wait gets the timeout, or a quarter more: a deadline that
// is far enough away is not set again. A deadline for each write would be a timer that wakes a thread some seconds after each
// frame to an idle client, which costs as much as the frame.
func (w *wire) write(p []byte) (int, error) {
	n := w.try(p)
	if n == len(p) {
		return n, nil
	}
	if now := time.Now(); w.until.Sub(now) < w.timeout {
		w.until = now.Add(w.timeout + w.timeout/4)
		if err := w.SetWriteDeadline(w.until); err != nil {
			return n, err
		}
	}
	rest, err := w.Conn.Write(p[n:])
	return n + rest, err
}

// try writes what the socket takes without waiting and returns how much that was.
func (w *wire) try(p []byte) int {
	if w.direct == nil {
		return 0
	}
	if !w.until.IsZero() && time.Now().After(w.until) { // a deadline that is over would refuse the attempt
		if w.SetWriteDeadline(time.Time{}) != nil {
			return 0
		}
		w.until = time.Time{}
	}
	return w.direct.Write(p)
}
