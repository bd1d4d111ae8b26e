package llm

import (
	"context"
	"errors"
	"sync"
	"time"
)

var errStalled = errors.New("the endpoint is silent")

// watch ends a context when the endpoint takes too long to send something. One goroutine uses it. The timer is not set anew
// for each piece of an answer: when it goes off, it is set to the time that is left.
type watch struct {
	// static after construction
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer

	mu      sync.Mutex
	silence time.Duration // guarded by mu
	waits   bool          // for the endpoint; guarded by mu
	since   time.Time     // guarded by mu
	set     bool          // the timer will go off; guarded by mu
}

func newWatch(ctx context.Context, silence time.Duration) (context.Context, *watch) {
	ctx, cancel := context.WithCancelCause(ctx)
	w := &watch{silence: silence, ctx: ctx, cancel: cancel}
	w.timer = time.AfterFunc(silence, w.ring)
	w.timer.Stop()
	return ctx, w
}

// start begins to wait for the endpoint.
func (w *watch) start() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waits, w.since = true, time.Now()
	if !w.set {
		w.set = true
		w.timer.Reset(w.silence)
	}
}

// pause stops waiting for the endpoint.
func (w *watch) pause() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waits = false
}

// limit shortens how long the endpoint may take from now on.
func (w *watch) limit(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if d < w.silence {
		w.silence = d
		w.timer.Stop() // it is set to a later time; the next start sets it
		w.set = false
	}
}

func (w *watch) ring() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.set = false
	if !w.waits {
		return
	}
	left := w.silence - time.Since(w.since)
	if left <= 0 {
		w.cancel(errStalled)
		return
	}
	w.set = true
	w.timer.Reset(left)
}

// stalled reports whether the watch ended the context.
func (w *watch) stalled() bool { return errors.Is(context.Cause(w.ctx), errStalled) }

// end ends the context, and with it everything that is left of the exchange.
func (w *watch) end() {
	w.pause()
	w.timer.Stop()
	w.cancel(nil)
}
