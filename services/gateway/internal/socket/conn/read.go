package conn

import (
	"context"
	"io"

	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/frame"
)

// Handler takes a frame and its reference, and reports whether the frame was an answer that somebody waited for.
type Handler func(*frame.Buffer) (asked bool)

// Serve reads until the connection ends, and hands each frame to handle, one after the other. It does not wait:
// done is called with the reason why the connection ended, after everything that belongs to it has ended. ctx bounds waits that are not the
// socket's; it does not end the connection.
func (c *Conn) Serve(ctx context.Context, handle Handler, done func(Reason)) {
	r := &reader{Conn: c, ctx: ctx, handle: handle, done: done, pacer: pacer{limit: c.cfg.MaxControlRate}}
	go r.loop()
}

// reader belongs to the goroutine that reads, one at any time.
type reader struct {
	*Conn
	ctx    context.Context
	handle Handler
	done   func(Reason)
	pacer  pacer
	hint   int // the likely size of the next frame
}

// loop goes on, after each frame that nobody asked for, on a new goroutine. Such frames (a registration, a heartbeat) are
// decoded and told to the registry, which grows the stack to 8 KiB; a reader that only waits needs 4, and most
// connections do nothing else. A new goroutine costs less than a microsecond.
func (r *reader) loop() {
	for {
		asked, err := r.next()
		if err != nil {
			r.Close(failure(err))
			r.work.Wait()
			r.done(r.Reason())
			return
		}
		if !asked {
			go r.loop()
			return
		}
	}
}

func (r *reader) next() (asked bool, err error) {
	// No context here: the socket's end ends the read, without a timer for each.
	kind, src, err := r.ws.Reader(context.Background())
	if err != nil {
		return false, err
	}
	r.Seen()
	if kind == r.cfg.messages() {
		asked, err = r.frame(src)
	} else {
		err = r.drop(src)
	}
	if err == nil && !asked {
		r.pacer.count(r.ctx)
	}
	return asked, err
}

func (r *reader) frame(src io.Reader) (asked bool, err error) {
	b, err := frame.Read(r.ctx, src, r.hint, r.cfg.Budget, r.Owner)
	if err != nil {
		return false, err
	}
	// The next frame is as large as this one or, more and more likely, small.
	r.hint = max(len(b.Bytes()), r.hint/2)
	return r.handle(b), nil
}

func (r *reader) drop(src io.Reader) error {
	_, err := io.Copy(io.Discard, src)
	if err == nil && r.cfg.OnDropped != nil {
		r.cfg.OnDropped()
	}
	return err
}
