package llm

import (
	"context"
	"errors"
	"time"
)

var errStalled = errors.New("the endpoint is silent")

// watch ends a context when the endpoint takes too long to send something. One goroutine uses it.
type watch struct {
	silence time.Duration
	ctx     context.Context
	cancel  context.CancelCauseFunc
	timer   *time.Timer
}

func newWatch(ctx context.Context, silence time.Duration) (context.Context, *watch) {
	ctx, cancel := context.WithCancelCause(ctx)
	w := &watch{silence: silence, ctx: ctx, cancel: cancel}
	w.timer = time.AfterFunc(silence, func() { cancel(errStalled) })
	w.timer.Stop()
	return ctx, w
}

// start begins to wait for the endpoint.
func (w *watch) start() { w.timer.Reset(w.silence) }

// pause stops waiting for the endpoint.
func (w *watch) pause() { w.timer.Stop() }

// limit shortens how long the endpoint may take from now on.
func (w *watch) limit(d time.Duration) { w.silence = min(w.silence, d) }

// stalled reports whether the watch ended the context.
func (w *watch) stalled() bool { return errors.Is(context.Cause(w.ctx), errStalled) }

// end ends the context, and with it everything that is left of the exchange.
func (w *watch) end() {
	w.timer.Stop()
	w.cancel(nil)
}
