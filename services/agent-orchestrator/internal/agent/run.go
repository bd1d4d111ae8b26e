package agent

import (
	"context"
	"errors"
	"log/slog"
	"slices"
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

	ledger

	// owned by the run's goroutine; sub-agents read them while it waits for them
	trail    trail
	settings *settings // nil until open, where those of an adopted run could not be read
	endpoint llm.Endpoint
	window   int
	ahead    time.Duration // of this pod's clock, the database's
	kit      *kit
	gathered bool           // gather was called
	opening  sync.WaitGroup // of the kit's sources
	todos    *builtin.Todos
	lexicon  *lexicon
	main     *thread            // nil until load
	tasks    map[string]*thread // of the sub-agents at work, by their calls
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
		kit:    &kit{kits: make([]tool.Kit, len(e.deps.Sources))},
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
	r.kit.close()
	r.trail.close()
}

// open takes the state over.
func (r *run) open(state store.State) (err error) {
	r.load(&state)
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
	if broken := &r.main.broken; broken.id != "" && !r.settings.Invoke.GetReplaces() {
		if broken.heard, err = r.journal.Heard(r.hold, r.lease.Ref, r.lease.Run, broken.id); err != nil {
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
	if !r.gathered {
		r.gather()
	}
	r.arrange()
	for _, task := range r.tasks {
		task.kit = r.kit.forTask()
	}
	return nil
}

// load makes the conversations of a state.
func (r *run) load(state *store.State) {
	r.ledger.open(state)
	r.ahead = time.Until(state.Now)
	r.main = &thread{
		run: r, page: page{runID: r.lease.Run}, ask: r.ask, work: r.work, kit: r.kit,
		messages: state.Messages, calls: state.Calls, steps: state.Run.Steps, broken: broken{id: state.Run.Streaming},
	}
	for _, m := range slices.Backward(state.Messages) {
		if m.Run == r.lease.Run && m.Role == roleAssistant && m.Content != "" {
			r.main.text = m.Content
			break
		}
	}
	r.tasks = make(map[string]*thread, len(state.Tasks))
	for i := range state.Tasks {
		task := &state.Tasks[i]
		r.tasks[task.Call] = r.newTask(task.Call, task.Messages, task.Calls)
	}
}

// threads are the conversations of the run, those of sub-agents before the user's, in the order of their calls.
func (r *run) threads() []*thread {
	all := make([]*thread, 0, len(r.tasks)+1)
	for i := range r.main.calls {
		if task := r.tasks[r.main.calls[i].ID]; task != nil {
			all = append(all, task)
		}
	}
	return append(all, r.main)
}

// next does the one thing that the state asks for.
func (r *run) next() error {
	if r.ask.Err() != nil {
		return context.Cause(r.ask)
	}
	for _, t := range r.threads() {
		if anyCall(t.calls, waits) {
			return r.planAgain()
		}
	}
	switch {
	case anyCall(r.main.calls, isOpen):
		if err := r.main.runCalls(); !errors.Is(err, errRests) {
			return err
		}
		return nil
	case r.main.steps >= r.maxSteps():
		return r.finish(finishMaxSteps)
	}
	r.trail.next(r.hold, r.main.steps+1)
	return r.main.step()
}

func (r *run) maxSteps() int {
	if n := int(r.settings.Invoke.GetMaxSteps()); n > 0 {
		return n
	}
	return r.e.cfg.MaxSteps
}

// flush keeps the pages of all conversations.
func (r *run) flush() error {
	for _, t := range r.threads() {
		if err := t.flush(r.hold); err != nil {
			return err
		}
	}
	return nil
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
		if err = r.flush(); err == nil {
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
	r.load(&state)
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
	r.closeCalls("the run ended with an error")
	r.main.say(errorEvent(told))
	return r.finish(finishError)
}

// finish ends the run: `complete` is its last event.
func (r *run) finish(reason string) error {
	if reason == finishCancelled {
		r.closeCalls("the run was cancelled")
	}
	return r.end(&store.End{FinishReason: reason})
}

// interrupt ends the stream and this pod's work; the run waits in the store. Where somebody has asked for its end it waits
// for nothing: what was to be kept stays on the page, and the error is errCancelled.
func (r *run) interrupt(i *agentv1.Interrupt) error {
	before := r.main.page
	r.main.say(interruptEvent(i))
	err := r.end(&store.End{FinishReason: finishInterrupt, Interrupt: i})
	if errors.Is(err, store.ErrCancelRequested) {
		r.main.page, r.done = before, false
		return errCancelled
	}
	return err
}

// end puts the run's end on the user's page, behind what sub-agents have left.
func (r *run) end(end *store.End) error {
	reason := end.FinishReason
	r.main.say(completeEvent(reason, r.main.text))
	r.main.change.End = end
	r.done = true
	if err := r.flush(); err != nil {
		return err
	}
	r.e.metrics.ended(reason)
	r.trail.ended(reason)
	r.log.InfoContext(r.hold, "run ended", "finish_reason", reason, "steps", r.main.steps)
	return nil
}

// closeCalls answers all calls that will not run any more.
func (r *run) closeCalls(why string) {
	for _, t := range r.threads() {
		t.closeCalls(why)
	}
}
