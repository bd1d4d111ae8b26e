package agent

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/refusal"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/llm"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool/builtin"
)

// run is one run that this pod works on. Its goroutine owns it; stop is all that others do.
type run struct {
	// static after construction
	e   *Engine
	log *slog.Logger
	// hold ends where the lease is lost: then nothing may be written. work ends with it, and where the run is cancelled or
	// the pod's grace is over: calls of tools use it. ask ends with that, and where the pod begins to stop: whatever can be
	// done again on another pod uses it.
	hold, work, ask          context.Context
	endHold, endWork, endAsk context.CancelCauseFunc
	forget                   [2]func() bool

	// owned by the run's goroutine
	ledger
	trail    trail
	settings *settings // nil until open, where those of an adopted run could not be read
	endpoint llm.Endpoint
	window   int
	ahead    time.Duration  // of this pod's clock, the database's
	kit      *kit           // nil until gather
	opening  sync.WaitGroup // of the kit's sources
	todos    *builtin.Todos
	lexicon  *lexicon
	messages []store.Message
	calls    []store.Call // of the last answer
	steps    int
	broken   broken // the answer that the next one goes on with, or takes the place of
	text     string // of the last answer
	measured measured
	done     bool
}

// newRun returns a run in the trace of its settings.
func newRun(e *Engine, lease store.Lease, s *settings) *run {
	traceparent := ""
	if s != nil {
		traceparent = s.Traceparent
	}
	ctx, trail := follow(e.deps.Tracing, traceparent, lease.Run)
	r := &run{
		trail: trail,
		e:     e, settings: s, log: e.log.With("run", lease.Run),
		ledger: ledger{lease: lease, journal: e.deps.Journal, publisher: e.deps.Publisher},
	}
	r.hold, r.endHold = context.WithCancelCause(ctx)
	r.work, r.endWork = context.WithCancelCause(r.hold)
	r.ask, r.endAsk = context.WithCancelCause(r.work)
	r.forget = [2]func() bool{
		context.AfterFunc(e.kill, func() { r.endWork(errDraining) }),
		context.AfterFunc(e.drain, func() { r.endAsk(errDraining) }),
	}
	return r
}

// stop ends the run soon: store.ErrLeaseLost where it is another pod's, errCancelled where nobody wants it any more.
func (r *run) stop(why error) {
	if errors.Is(why, store.ErrLeaseLost) {
		r.endHold(why)
		return
	}
	r.endWork(why)
}

// live works on the run until it ends, waits, or is not this pod's any more.
func (r *run) live(state store.State) {
	r.e.metrics.active.Inc()
	defer r.e.metrics.active.Dec()
	defer r.close()
	err := r.open(state)
	for err == nil && !r.done {
		err = r.next()
	}
	if err != nil {
		r.conclude(err)
	}
}

func (r *run) close() {
	for _, forget := range r.forget {
		forget()
	}
	r.endHold(context.Canceled)
	r.opening.Wait()
	if r.kit != nil {
		r.kit.close()
	}
	r.trail.close()
}

// open takes the state over.
func (r *run) open(state store.State) (err error) {
	r.page, r.ahead = pageAfter(&state, r.lease.Run), time.Until(state.Now)
	r.messages, r.calls, r.steps, r.broken.id = state.Messages, state.Calls, state.Run.Steps, state.Run.Streaming
	for i := len(r.messages) - 1; i >= 0 && r.text == ""; i-- {
		if m := &r.messages[i]; m.Run == r.lease.Run && m.Role == roleAssistant {
			r.text = m.Content
		}
	}
	if state.Run.CancelRequested {
		return errCancelled
	}
	if r.settings == nil {
		s, err := r.e.unseal(r.lease.User, state.Run.Settings)
		if err != nil {
			return err
		}
		r.settings = &s
	}
	if r.broken.id != "" && !r.settings.Invoke.GetReplaces() {
		if r.broken.heard, err = r.journal.Heard(r.hold, r.lease.Ref, r.lease.Run, r.broken.id); err != nil {
			return &keepError{err}
		}
	}
	if r.endpoint, r.window, err = r.e.endpoint(r.settings.Invoke.GetModel()); err != nil {
		return err
	}
	if r.todos, err = builtin.LoadTodos(state.Todos); err != nil {
		return err
	}
	if r.lexicon, err = loadLexicon(state.Lexicon); err != nil {
		return err
	}
	if r.kit == nil {
		r.gather()
	}
	r.arrange()
	return nil
}

// next does the one thing that the state asks for.
func (r *run) next() error {
	if r.ask.Err() != nil {
		return context.Cause(r.ask)
	}
	switch {
	case anyCall(r.calls, func(c *store.Call) bool { return c.State == store.Waiting }):
		return r.planAgain()
	case anyCall(r.calls, isOpen):
		return r.runCalls()
	default:
		return r.step()
	}
}

func isOpen(c *store.Call) bool { return c.State != store.Ended }

func anyCall(calls []store.Call, is func(*store.Call) bool) bool {
	for i := range calls {
		if is(&calls[i]) {
			return true
		}
	}
	return false
}

// conclude does what is left to do where the run cannot simply go on.
func (r *run) conclude(err error) {
	var keep *keepError
	switch cause := context.Cause(r.ask); {
	case errors.Is(err, store.ErrLeaseLost) || r.hold.Err() != nil:
		r.e.metrics.lost.Inc()
		r.log.InfoContext(r.hold, "the run is another pod's, or nobody's")
		return
	case errors.As(err, &keep) && errors.Is(err, refusal.Unavailable):
		// Whether the step was kept nobody can say: whoever adopts the run sees.
		r.log.WarnContext(r.hold, "the run is left to be adopted", "error", err)
		return
	case keep == nil && errors.Is(cause, errDraining):
		if err = r.flush(r.hold); err == nil {
			r.e.ended(r) // or it would be renewed again
			r.e.release(r.lease)
			return
		}
	case keep == nil && errors.Is(cause, errCancelled) || errors.Is(err, errCancelled):
		err = r.finish(finishCancelled)
	case keep != nil:
		err = r.failUnkept(err)
	default:
		err = r.fail(err)
	}
	if err != nil {
		r.log.ErrorContext(r.hold, "the run's end is not kept", "error", err)
	}
}

// failUnkept ends the run because a step cannot be kept, for a reason that would be there again: whoever adopted it would
// only repeat it. It ends as the store has it.
func (r *run) failUnkept(why error) error {
	state, err := r.journal.Load(r.hold, r.lease.Ref)
	if err != nil {
		return errors.Join(why, err)
	}
	r.page, r.calls = pageAfter(&state, r.lease.Run), state.Calls
	return r.fail(why)
}

// fail ends the run with an error that its user can read.
func (r *run) fail(err error) error {
	told := &agentv1.Error{Code: "Internal", Message: "Something went wrong in the agent server"}
	var model *llm.Error
	var refused *refusal.Error
	switch {
	case errors.As(err, &model):
		told.Code, told.Message = string(model.Code), model.Message
	case errors.Is(err, errDiffers):
		told.Code, told.Message = string(llm.ModelUnavailable), errDiffers.Error()
	case errors.As(err, &refused):
		told.Message, told.Details = refused.Reason.Title(), refused.Message
	}
	r.log.WarnContext(r.hold, "the run ends with an error", "code", told.GetCode(), "error", err)
	r.closeCalls("the run ended with an error before it could run")
	r.say(errorEvent(told))
	return r.finish(finishError)
}

// finish ends the run: `complete` is its last event.
func (r *run) finish(reason string) error {
	if reason == finishCancelled {
		r.closeCalls("the run was cancelled before it could run")
	}
	return r.end(&store.End{FinishReason: reason})
}

// interrupt ends the stream and this pod's work; the run waits in the store. Where somebody has asked for its end it waits
// for nothing: what was to be kept stays on the page, and the error is errCancelled.
func (r *run) interrupt(i *agentv1.Interrupt) error {
	before := r.page
	r.say(interruptEvent(i))
	err := r.end(&store.End{FinishReason: finishInterrupt, Interrupt: i})
	if errors.Is(err, store.ErrCancelRequested) {
		r.page, r.done = before, false
		return errCancelled
	}
	return err
}

func (r *run) end(end *store.End) error {
	reason := end.FinishReason
	r.say(completeEvent(reason, r.text))
	r.change.End = end
	r.done = true
	if err := r.flush(r.hold); err != nil {
		return err
	}
	r.e.metrics.ended(reason)
	r.trail.ended(reason)
	r.log.InfoContext(r.hold, "run ended", "finish_reason", reason, "steps", r.steps)
	return nil
}

// closeCalls answers the calls that will not run any more, so that the conversation can go on without them.
func (r *run) closeCalls(why string) {
	for i := range r.calls {
		switch c := &r.calls[i]; c.State {
		case store.Ended:
		case store.Started:
			r.endCall(c, unanswered(unknownAfterCrash))
		default:
			r.endCall(c, unanswered(&tool.Failure{Outcome: tool.Cancelled, Message: c.Tool + " was not run: " + why}))
		}
	}
}
