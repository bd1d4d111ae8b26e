package lifecycle

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// Signals returns a context that ends at the first SIGINT or SIGTERM; [context.Cause] then names the signal. From that
// moment on a second signal has its usual effect, so an impatient Ctrl-C kills. Call release when done: it waits for
// the goroutine behind the context.
func Signals(parent context.Context) (ctx context.Context, release func()) {
	ctx, cancel := context.WithCancelCause(parent)
	arrived := make(chan os.Signal, 1)
	signal.Notify(arrived, syscall.SIGINT, syscall.SIGTERM)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer signal.Stop(arrived)
		select {
		case sig := <-arrived:
			cancel(fmt.Errorf("received the signal %q", sig))
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		cancel(nil)
		<-ended
	}
}
