package agent

import (
	"context"
	"errors"

	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
)

// lifetime is how long a run may do what. Each context ends with the one before it; their causes say why. Its fields are
// static, and its methods may be called from any goroutine.
type lifetime struct {
	// leased ends when the lease is lost: after that nothing may be written.
	leased context.Context
	// working ends when the run is cancelled, or the pod's time to stop is over: calls of tools use it.
	working context.Context
	// asking ends when the pod begins to stop: it is for whatever another pod can simply do again.
	asking context.Context

	endLeased, endWorking, endAsking context.CancelCauseFunc
	unwatch                          [2]func() bool // the pod's contexts
}

// newLifetime returns the lifetime of a run whose pod begins to stop when draining ends, and has stopped when stopping ends.
func newLifetime(ctx, draining, stopping context.Context) lifetime {
	var l lifetime
	l.leased, l.endLeased = context.WithCancelCause(ctx)
	l.working, l.endWorking = context.WithCancelCause(l.leased)
	l.asking, l.endAsking = context.WithCancelCause(l.working)
	l.unwatch = [2]func() bool{
		context.AfterFunc(stopping, func() { l.endWorking(errDraining) }),
		context.AfterFunc(draining, func() { l.endAsking(errDraining) }),
	}
	return l
}

// stop ends the run soon: store.ErrLeaseLost says that another pod has it, errCancelled that nobody wants it any more.
func (l *lifetime) stop(why error) {
	if errors.Is(why, store.ErrLeaseLost) {
		l.endLeased(why)
		return
	}
	l.endWorking(why)
}

// end ends all of it, once the run's work here is done.
func (l *lifetime) end() {
	for _, unwatch := range l.unwatch {
		unwatch()
	}
	l.endLeased(context.Canceled)
}
