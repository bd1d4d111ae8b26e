package agent

import (
	"context"

	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
)

// Cancel asks for the end of a session's run, or ends its interrupt, and reports whether there was one. A run of this pod
// hears of it at once, one of another pod when its lease is renewed or [Engine.Poke] tells it. The error may be
// refusal.SessionNotFound.
func (e *Engine) Cancel(ctx context.Context, ref store.Ref) (bool, error) {
	active, events, err := e.deps.Journal.RequestCancel(ctx, ref)
	if err != nil {
		return false, err
	}
	if len(events) > 0 {
		e.deps.Publisher.Publish(ref, events)
		e.metrics.ended(finishCancelled)
	}
	if active {
		e.Poke(ref)
	}
	return active, nil
}

// Poke cancels a session's run if it is one of this pod. It is for those who know that its end was asked for.
func (e *Engine) Poke(ref store.Ref) {
	if r := e.local(ref); r != nil {
		r.stop(errCancelled)
	}
}
