package cli

import (
	"context"
	"fmt"
	"os"
)

// interrupts takes Ctrl-C away from ctx, so that a command may ask what is meant by it: the context that is returned ends with
// every other signal. Without [Env.Signals], ctx stays as it is and nobody is told anything. Call release when done.
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
