package agent_test

import (
	"context"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/model/modeltest"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/agent"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store/storetest"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

func (p *pod) cancel(s agent.Started) bool {
	p.w.t.Helper()
	active, err := p.Cancel(p.w.t.Context(), s.Ref)
	if err != nil {
		p.w.t.Fatal(err)
	}
	return active
}

// What was read of an answer stays in the conversation.
func TestCancelledWhileStreaming(t *testing.T) {
	t.Parallel()
	for name, elsewhere := range map[string]bool{"here": false, "on another pod": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t)
			gate := make(chan struct{})
			defer close(gate)
			w.model.Script(modeltest.Say("half").Wait(gate))
			p := w.pod()
			from := p
			if elsewhere {
				from = w.pod()
			}
			s := p.say("go")
			testkit.Eventually(t, soon, func() bool { return p.state(s).LastSeq > 0 }, "text came")
			if !from.cancel(s) {
				t.Error("nothing to cancel")
			}
			got := p.ended(s)
			if got.finish() != "cancelled" || got.text() != "half" || got[len(got)-1].GetComplete().GetContent() != "half" {
				t.Errorf("%v", got)
			}
			if m := p.state(s).Messages; len(m) != 2 || m[1].Content != "half" {
				t.Errorf("%v", m)
			}
			if p.cancel(s) {
				t.Error("cancelled twice")
			}
		})
	}
}

func TestCancelledDuringACall(t *testing.T) {
	t.Parallel()
	f := newFake("look", func(ctx context.Context, _ tool.Invocation) (tool.Result, error) {
		<-ctx.Done()
		return tool.Result{}, ctx.Err()
	})
	w := newFixture(t, f)
	w.model.Script(modeltest.Calls(modeltest.ToolCall{Name: "look"}, modeltest.ToolCall{Name: "look"}))
	p := w.pod()
	s := p.say("go")
	testkit.Eventually(t, soon, func() bool { return len(f.seen()) == 1 }, "the call is made")
	p.cancel(s)
	got := p.ended(s)
	r := got.results()
	if got.finish() != "cancelled" || len(r) != 2 || r[0].GetOutcome() != "unknown" || r[0].GetReason() != "CANCELLED" || r[1].GetOutcome() != "cancelled" {
		t.Errorf("%v", got)
	}
	w.model.Script(modeltest.Say("on"))
	if got := p.ended(p.invoke(&agentv1.InvokeRequest{Message: "and?", SessionId: string(s.Session)})); got.text() != "on" {
		t.Errorf("%v", got)
	}
}

func TestCancelledWhileWaiting(t *testing.T) {
	t.Parallel()
	_, p, click, _, s := clickAndLook(t, shared(t))
	s.After = p.state(s).LastSeq
	if !p.cancel(s) {
		t.Error("nothing to cancel")
	}
	if got := p.ended(s); got.finish() != "cancelled" || len(click.seen()) != 0 {
		t.Errorf("%v", got)
	}
	_, err := p.Resume(t.Context(), user, &agentv1.ResumeRequest{SessionId: string(s.Session), ToolCallResults: []*agentv1.ToolCallDecision{decision("call_0", "approved")}})
	wantReason(t, err, errs.AlreadyDecided)
}

func TestCancelOfNothing(t *testing.T) {
	t.Parallel()
	p := newFixture(t).pod()
	_, err := p.Cancel(t.Context(), store.Ref{User: user, Session: "none"})
	wantReason(t, err, errs.SessionNotFound)
}

// Who adopts a run that was to be cancelled ends it.
func TestCancelledWhileNoPodHasTheRun(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	gate := make(chan struct{})
	defer close(gate)
	w.model.Script(modeltest.Say("x").Wait(gate))
	dying := w.pod()
	s := dying.say("go")
	testkit.Eventually(t, soon, func() bool { return dying.state(s).LastSeq > 0 }, "text came")
	dying.faults.cutOff()
	if _, _, err := dying.store.RequestCancel(t.Context(), s.Ref); err != nil {
		t.Fatal(err)
	}
	if got := w.pod().ended(s); got.finish() != "cancelled" {
		t.Errorf("%v", got)
	}
}

// A run that was about to ask somebody must not wait for an answer when its end was asked for at that moment.
func TestCancelledJustBeforeAnInterrupt(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		click := newDevice("click")
		w := newFixtureOn(t, open, click)
		w.model.Script(modeltest.Say("I shall click. ").Then(modeltest.Call("click", nil)))
		p, asks := w.pod(), w.open()
		req := asking("click")
		req.SessionId = "session_1"
		p.faults.before = func(c store.Change) bool {
			if c.End != nil && c.End.Interrupt != nil {
				if active, _, err := asks.RequestCancel(context.WithoutCancel(t.Context()), store.Ref{User: user, Session: "session_1"}); !active || err != nil {
					t.Errorf("%v, %v", active, err)
				}
			}
			return false
		}
		s := p.invoke(req)
		got := p.ended(s)
		if r := got.results(); got.finish() != "cancelled" || len(r) != 1 || r[0].GetOutcome() != "cancelled" || got.text() != "I shall click. " {
			t.Errorf("%v", got)
		}
		if state := p.state(s); state.Status != store.Idle || len(state.Messages) != 3 || state.Calls[0].State != store.Ended {
			t.Errorf("%+v", state)
		}
	})
}

// Word of a cancel may come late: the session's next run has begun by then.
func TestLateCancelNotification(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	gate := make(chan struct{})
	w.model.Script(modeltest.Say("half").Wait(gate).Then(modeltest.Say(" and half")))
	p := w.pod()
	s := p.say("go")
	testkit.Eventually(t, soon, func() bool { return p.state(s).LastSeq > 0 }, "text came")
	p.Poke(s.Ref)
	close(gate)
	if got := p.ended(s); got.finish() != "stop" || got.text() != "half and half" {
		t.Errorf("%v", got)
	}
}
