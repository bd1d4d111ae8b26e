package agent

import (
	"errors"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/agent/journal"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/llm"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
)

// ending ends a run, or this pod's work on it: `complete` is the last event either way. The run's goroutine owns it.
type ending struct {
	env           *environment
	conversations *conversations
	done          bool
}

// finish ends the run for good.
func (e *ending) finish(reason string) error {
	if reason == journal.FinishCancelled {
		e.conversations.closeCalls("the run was cancelled")
	}
	return e.end(&store.End{FinishReason: reason})
}

// fail ends the run with an error that its user can read.
func (e *ending) fail(err error) error {
	told := &agentv1.Error{Code: "Internal", Message: "Something went wrong in the agent server"}
	var model *llm.Error
	var refused *errs.Error
	switch {
	case errors.As(err, &model):
		told.Code, told.Message = string(model.Code), model.Message
	case errors.Is(err, errDiffers):
		told.Code, told.Message = string(llm.ModelUnavailable), errDiffers.Error()
	case errors.As(err, &refused) && refused.Class() == errs.Refused:
		told.Message, told.Details = refused.Reason.Title(), refused.Message
	}
	e.env.log.WarnContext(e.env.leased, "the run ends with an error", "code", told.GetCode(), "error", err)
	e.conversations.closeCalls("the run ended with an error")
	e.conversations.main.batch.AddEvent(journal.ErrorEvent(told))
	return e.finish(journal.FinishError)
}

// interrupt ends the stream and this pod's work; the run waits in the store for a decision. If the run was cancelled
// meanwhile it waits for nothing: the batch stays as it was before, and the error is errCancelled.
func (e *ending) interrupt(i *agentv1.Interrupt) error {
	main := e.conversations.main
	before := main.batch
	main.batch.AddEvent(journal.InterruptEvent(i))
	err := e.end(&store.End{FinishReason: journal.FinishInterrupt, Interrupt: i})
	if errors.Is(err, store.ErrCancelRequested) {
		main.batch, e.done = before, false
		return errCancelled
	}
	return err
}

// end writes the run's end, after what is left of its sub-agents.
func (e *ending) end(end *store.End) error {
	main, reason := e.conversations.main, end.FinishReason
	main.batch.AddEvent(journal.CompleteEvent(reason, main.text))
	main.batch.Change.End = end
	e.done = true
	if err := e.conversations.flush(); err != nil {
		return err
	}
	e.env.metrics.ended(reason)
	e.env.trace.finished(reason)
	e.env.log.InfoContext(e.env.leased, "run ended", "finish_reason", reason, "steps", main.steps)
	return nil
}
