package jobs

import (
	"context"
	"errors"
	"time"

	"github.com/hecaton-dev/hecaton/services/knowledge/internal/embed"
	"github.com/hecaton-dev/hecaton/services/knowledge/internal/parse"
	"github.com/hecaton-dev/hecaton/services/knowledge/internal/store"
)

// end stores how the work on a document ended, and returns its name for metrics.
func (j *job) end(ctx context.Context, err error) string {
	if err == nil {
		if j.claim.Status == store.Completed {
			return "embedded"
		}
		return "completed"
	}
	stopped := ctx.Err() != nil
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
	defer cancel()
	result, problem := "lost", error(nil)
	switch message, final := final(err); {
	case errors.Is(err, store.ErrLost):
	case stopped:
		result, problem = "released", j.p.o.Store.Release(ctx, j.claim)
	case final && j.claim.Status == store.Processing:
		result, problem = "failed", j.fail(ctx, message)
	default:
		result, problem = j.wait(ctx, err, message)
	}
	if problem != nil && !errors.Is(problem, store.ErrLost) {
		j.p.log.WarnContext(ctx, "what became of a document is not stored: its claim ends by itself", "document", j.claim.ID, "error", problem)
	}
	return result
}

// final returns what a document is told of an error, and whether trying again changes nothing.
func final(err error) (message string, final bool) {
	if message, ok := parse.IsFailure(err); ok {
		return message, true
	}
	var dimension *store.DimensionError
	if errors.As(err, &dimension) {
		return "EMBEDDING_DIMENSION: " + dimension.Error(), true
	}
	var e *embed.Error
	if errors.As(err, &e) {
		return "EMBEDDING_FAILED: " + e.Message, e.Final
	}
	return "the document could not be processed; it is tried again", false
}

func (j *job) fail(ctx context.Context, message string) error {
	d, err := j.p.o.Store.Fail(ctx, j.claim, message)
	if err == nil {
		j.p.o.Announcer.Document(d)
	}
	return err
}

// Pauses of a document that waits. They grow with the time that it has waited.
const (
	shortPause = time.Second
	longPause  = 30 * time.Second
)

// wait postpones the work, or ends it where it has been postponed for too long. A document whose vectors are only old goes on waiting.
func (j *job) wait(ctx context.Context, err error, message string) (string, error) {
	j.p.log.WarnContext(ctx, "a document waits", "document", j.claim.ID, "error", err)
	pause := min(max(j.claim.Waited/4, shortPause), longPause)
	if j.claim.Status == store.Completed {
		pause = longPause
	} else if j.claim.Waited > j.p.o.Patience {
		return "failed", j.fail(ctx, message)
	}
	var e *embed.Error
	if errors.As(err, &e) {
		pause = max(pause, min(e.After, 2*j.p.o.Patience))
	}
	if err := j.p.o.Store.Postpone(ctx, j.claim, pause, message); err != nil {
		return "lost", err
	}
	if j.claim.Status == store.Processing {
		d := j.claim.Document
		d.Error, d.Progress = message, j.done()
		j.p.o.Announcer.Document(d)
	}
	return "postponed", nil
}
