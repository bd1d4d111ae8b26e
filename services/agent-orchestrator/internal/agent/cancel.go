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

// pokes is how many words of cancels may wait; the next renewal tells of those for which there is no room.
const pokes = 64

// Poke has a session's run, if it is one of this pod, look whether its end was asked for: word of a cancel may come late, and
// must not end the run that followed. It does not block.
func (e *Engine) Poke(ref store.Ref) {
	if e.local(ref) == nil {
		return
	}
	select {
	case e.poked <- ref:
	default:
	}
}
