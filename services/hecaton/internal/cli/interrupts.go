package cli

import (
	"context"
	"fmt"
	"os"
)

// interrupts returns a context that ends with every signal but Ctrl-C, and a channel that receives each Ctrl-C, so that a
// command can decide what it means. Without [Env.Signals] the context is ctx, and the channel is nil. Call release when
// done.
func (e Env) interrupts(ctx context.Context) (_ context.Context, pressed <-chan struct{}, release func()) {
	if e.Signals == nil {
		return ctx, nil, func() {}
	}
	signals, stop := e.Signals()
	ctx, end := context.WithCancelCause(context.WithoutCancel(ctx))
	presses, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case signal := <-signals:
				if signal != os.Interrupt {
					end(fmt.Errorf("received the signal %q", signal))
					return
				}
			case <-ctx.Done():
				return
			}
			select {
			case presses <- struct{}{}:
			case <-ctx.Done():
				return
			}
		}
	}()
	return ctx, presses, func() {
		stop()
		end(nil)
		<-ended
	}
}
