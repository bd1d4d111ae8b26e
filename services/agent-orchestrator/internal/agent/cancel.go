package agent

import (
	"context"

	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/agent/journal"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
)

// Cancel asks for the end of a session's run, or ends its interrupt, and reports whether there was one. A run of this pod
// hears of it at once, one of another pod when its lease is renewed or [Engine.Poke] is called there. The error may be
// errs.SessionNotFound.
func (e *Engine) Cancel(ctx context.Context, ref store.Ref) (bool, error) {
	active, events, err := e.deps.Journal.RequestCancel(ctx, ref)
	if err != nil {
		return false, err
	}
	if len(events) > 0 {
		e.deps.Publisher.Publish(ref, events)
		e.metrics.ended(journal.FinishCancelled)
	}
	if active {
		e.Poke(ref)
	}
	return active, nil
}

// Poke has a session's run, if it is one of this pod, look in the store whether it was cancelled. It ends nothing by itself:
// news of a cancel may come late, and must not end the run that followed. It does not block.
func (e *Engine) Poke(ref store.Ref) { e.leases.poke(ref) }
