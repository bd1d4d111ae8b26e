package edge

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"
)

// Pace is how slow a client may be.
type Pace struct {
	// Grace is how long a body may take whatever its length.
	Grace time.Duration
	// Rate is how many bytes a second it must have on average beyond that.
	Rate int64
	// Write is how long a client may take for [piece] bytes of an answer.
	Write time.Duration
}

const (
	// piece is how much is written under one deadline: a slow client gets a large answer as long as it reads.
	piece = 64 << 10
	// wait is how long an answer waits for a short rest of a body that nobody has read; net/http reads that before it
	// answers, so that the connection can be used again.
	wait = 250 * time.Millisecond
	// linger is how long a body that was refused is read and forgotten after the answer, and idle how long that waits for
	// more of it. A client that was cut while it writes might never read the answer.
	linger, idle = 3 * time.Second, 500 * time.Millisecond
)

// TooSlow is the error of a body that came too slowly; 408.
type TooSlow struct{ Pace Pace }

func (e *TooSlow) Error() string {
	return fmt.Sprintf("the body came too slowly: after %v it must have had %d bytes a second", e.Pace.Grace, e.Pace.Rate)
}

// Handler gives each body a deadline that grows with the bytes that arrive, and each write one of its own. A stream may
// last, and a handler may take, any time.
func (p Pace) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		socket, ok := w.(deadlines)
		if !ok {
			next.ServeHTTP(w, r)
			return
		}
		out := &pacedWriter{ResponseWriter: w, socket: socket, patience: p.Write}
		if r.Body == nil || r.Body == http.NoBody {
			next.ServeHTTP(out, r)
			return
		}
		in := &pacedBody{ReadCloser: r.Body, socket: socket, pace: p, began: time.Now()}
		if r.Header.Get("Expect") != "" { // the first read writes
			_ = socket.SetWriteDeadline(in.began.Add(p.Write))
		}
		in.extend()
		r.Body = in
		next.ServeHTTP(out, r)
		if !in.ended && !out.hijacked {
			in.forget(out)
		}
	})
}

// deadlines is what an [http.ResponseController] does, of net/http's own writer.
type deadlines interface {
	SetReadDeadline(time.Time) error
	SetWriteDeadline(time.Time) error
}

// pacedBody is a request's body. It belongs to the handler.
type pacedBody struct {
	io.ReadCloser
	socket deadlines
	pace   Pace
	began  time.Time
	read   int64
	until  time.Time
	ended  bool // everything has come
}

// extend moves the deadline once that makes a difference.
func (b *pacedBody) extend() {
	until := b.began.Add(b.pace.Grace + time.Duration(float64(b.read)/float64(b.pace.Rate)*float64(time.Second)))
	if until.Sub(b.until) >= 100*time.Millisecond {
		b.until = until
		_ = b.socket.SetReadDeadline(until)
	}
}

func (b *pacedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.read += int64(n)
	switch {
	case err == nil:
		b.extend()
	case errors.Is(err, io.EOF):
		b.ended = true
		_ = b.socket.SetReadDeadline(time.Time{}) // from now on it is the client's turn to wait
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = &TooSlow{b.pace}
	}
	return n, err
}

// forget answers, and reads what is left.
func (b *pacedBody) forget(w *pacedWriter) {
	_ = b.socket.SetReadDeadline(time.Now().Add(wait))
	if w.FlushError() != nil {
		return
	}
	end := time.Now().Add(linger)
	buf := make([]byte, 4<<10)
	for now := time.Now(); now.Before(end); now = time.Now() {
		_ = b.socket.SetReadDeadline(now.Add(idle))
		if _, err := b.ReadCloser.Read(buf); err != nil {
			return
		}
	}
}

// pacedWriter is the way of an answer. It belongs to the handler.
type pacedWriter struct {
	http.ResponseWriter
	socket   deadlines
	patience time.Duration
	until    time.Time
	hijacked bool
}

// extend sees that at least half of the patience is left.
func (w *pacedWriter) extend() {
	if now := time.Now(); w.until.Sub(now) < w.patience/2 {
		w.until = now.Add(w.patience)
		_ = w.socket.SetWriteDeadline(w.until)
	}
}

func (w *pacedWriter) WriteHeader(status int) {
	w.extend()
	w.ResponseWriter.WriteHeader(status)
}

func (w *pacedWriter) Write(b []byte) (n int, err error) {
	for {
		w.extend()
		wrote, err := w.ResponseWriter.Write(b[:min(piece, len(b))])
		n, b = n+wrote, b[wrote:]
		if err != nil || len(b) == 0 {
			return n, err
		}
	}
}

// FlushError implements what [http.ResponseController] looks for.
func (w *pacedWriter) FlushError() error {
	w.extend()
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Hijack hands over the socket, without any deadline.
func (w *pacedWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	w.hijacked = true
	return http.NewResponseController(w.ResponseWriter).Hijack()
}

// Unwrap lets an [http.ResponseController] reach the writer below.
func (w *pacedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
