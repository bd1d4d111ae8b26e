package agent

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/agent/catalogue"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/agent/journal"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool/builtin"
)

// run is one run that this pod works on. It looks at what the state asks for and has the parts do it: a turn asks the model,
// the gate decides about calls, an executor runs them, and the ending ends the run. One goroutine owns it; others only call
// stop.
type run struct {
	environment

	// owned by the run's goroutine
	head          *headStart // nil for a run that does not begin here
	toolset       *toolset
	gate          gate
	conversations conversations // empty until load
	ending        ending
}

// newRun returns a run in the trace of its settings. It may gather its tools before work takes it over.
func newRun(p *parts, lease store.Lease, s *settings) *run {
	traceparent := ""
	if s != nil {
		traceparent = s.Traceparent
	}
	ctx, spans := startTrace(p.deps.Tracing, traceparent, lease.Run)
	r := &run{environment: environment{
		parts: p, lifetime: newLifetime(ctx, p.draining, p.stopping), log: p.log.With("run", lease.Run), lease: lease, trace: spans,
		writer: journal.NewWriter(p.deps.Journal, p.deps.Publisher), settings: s,
	}}
	r.toolset, r.briefing = newToolset(&r.environment), &briefing{env: &r.environment}
	r.gate = gate{env: &r.environment}
	r.ending = ending{env: &r.environment, conversations: &r.conversations}
	return r
}

// work works on the run until it ends, waits, or is not this pod's any more. release lets other pods adopt it at once.
func (r *run) work(state store.State, release func()) {
	r.metrics.active.Inc()
	defer r.metrics.active.Dec()
	defer r.close()
	err := r.open(state)
	for err == nil && !r.ending.done {
		err = r.next()
	}
	if err != nil {
		r.conclude(err, release)
	}
}

func (r *run) close() {
	r.lifetime.end()
	if r.head != nil {
		r.head.end()
	}
	r.toolset.close()
	r.briefing.close()
	r.trace.close()
}

// open takes the state over.
func (r *run) open(state store.State) (err error) {
	r.load(&state)
	r.conversations.main.head = r.head
	if state.Run.CancelRequested {
		return errCancelled
	}
	if r.settings == nil {
		s, err := openSettings(r.deps.Sealer, r.lease.User, state.Run.Settings)
		if err != nil {
			return err
		}
		r.settings = &s
	}
	if broken := &r.conversations.main.broken; broken.id != "" && !r.settings.Invoke.GetReplaces() {
		if broken.heard, err = r.deps.Journal.Heard(r.leased, r.lease.Ref, r.lease.Run, broken.id); err != nil {
			return &journal.Error{Err: err}
		}
	}
	if r.endpoint, r.window, err = endpointOf(r.cfg, r.deps.Addresses, r.settings.Invoke.GetModel()); err != nil {
		return err
	}
	if r.todos, err = builtin.LoadTodos(state.Todos); err != nil {
		return err
	}
	if r.names, err = catalogue.LoadNames(state.ToolNames); err != nil {
		return err
	}
	r.toolset.gather()
	r.briefing.gather()
	r.conversations.setTools(r.toolset.arrange(r.ownTools()))
	return r.briefing.settle(r.conversations.main, state.Skills)
}

// load makes the conversations of a state.
func (r *run) load(state *store.State) {
	r.writer.Open(r.lease, state)
	r.ahead = time.Until(state.Now)
	r.conversations.load(&r.environment, r.toolset, state)
}

// next does the one thing that the state asks for.
func (r *run) next() error {
	if r.asking.Err() != nil {
		return context.Cause(r.asking)
	}
	if waiting := r.conversations.waiting(); len(waiting) > 0 {
		return r.reviewAgain(waiting)
	}
	main := r.conversations.main
	switch {
	case anyCall(main.calls, isOpen):
		if err := (executor{main}).runOpen(); !errors.Is(err, errWaits) {
			return err
		}
		return nil
	case main.steps >= r.maxSteps():
		return r.ending.finish(journal.FinishMaxSteps)
	}
	r.trace.nextStep(r.leased, main.steps+1)
	review, err := (&turn{conv: main, gate: r.gate}).take()
	switch {
	case err != nil:
		return err
	case len(main.calls) == 0:
		return r.ending.finish(journal.FinishStop)
	}
	return r.askOrGoOn(review)
}

// reviewAgain has the gate decide about calls that wait although nobody is asked about them any more: they are a sub-agent's,
// a node was chosen for them, or what was approved is not there as it was shown.
func (r *run) reviewAgain(waiting []proposed) error {
	review, err := r.gate.review(r.asking, waiting)
	if err != nil {
		return err
	}
	return r.askOrGoOn(review)
}

// askOrGoOn does what a review says, and interrupts the run if people have to decide first.
func (r *run) askOrGoOn(found review) error {
	question := r.gate.interrupt(found)
	found.apply()
	if question == nil {
		return nil
	}
	return r.ending.interrupt(question)
}

// conclude does what is left to do when the run cannot simply go on.
func (r *run) conclude(err error, release func()) {
	var unwritten *journal.Error
	switch cause := context.Cause(r.asking); {
	case errors.Is(err, store.ErrLeaseLost) || r.leased.Err() != nil:
		r.metrics.lost.Inc()
		r.log.InfoContext(r.leased, "the run's lease is lost: another pod has the run, or its session was deleted")
		return
	case errors.As(err, &unwritten) && errors.Is(err, errs.AgentUnavailable):
		// Whether the step was stored is not known here: the pod that adopts the run sees it.
		r.log.WarnContext(r.leased, "the run is left for another pod to adopt", "error", err)
		return
	case unwritten == nil && errors.Is(cause, errDraining):
		if err = r.conversations.flush(); err == nil {
			release()
			return
		}
	case unwritten == nil && errors.Is(cause, errCancelled) || errors.Is(err, errCancelled):
		err = r.ending.finish(journal.FinishCancelled)
	case unwritten != nil:
		err = r.failUnwritten(err)
	default:
		err = r.ending.fail(err)
	}
	if err != nil {
		r.log.ErrorContext(r.leased, "the run's end could not be stored", "error", err)
	}
}

// failUnwritten ends the run because a step cannot be stored, for a reason that would be there again: a pod that adopted the
// run would only repeat it. The run ends with the state that the store has.
func (r *run) failUnwritten(why error) error {
	state, err := r.deps.Journal.Load(r.leased, r.lease.Ref)
	if err != nil {
		return errors.Join(why, err)
	}
	r.load(&state)
	return r.ending.fail(why)
}

// lastText returns what the model said last to the user in a run.
func lastText(messages []store.Message, run string) string {
	for _, m := range slices.Backward(messages) {
		if m.Run == run && m.Role == store.RoleAssistant && m.Content != "" {
			return m.Content
		}
	}
	return ""
}
