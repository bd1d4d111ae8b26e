package agent_test

import (
	"context"
	"errors"
	"strings"
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

// A pod dies where its store shuts: what was committed is there, nothing more comes, and its lease is over.

// forgets waits until the pod has let go of its runs.
func (p *pod) forgets(t *testing.T) {
	t.Helper()
	testkit.Eventually(t, soon, func() bool { return p.Active() == 0 }, "the pod has let go of the run")
}

func started(id string) func(store.Change) bool {
	return func(c store.Change) bool {
		for _, call := range c.Calls {
			if call.ID == id && call.State == store.Started {
				return true
			}
		}
		return false
	}
}

func endedCall(id string) func(store.Change) bool {
	return func(c store.Change) bool {
		for _, call := range c.Calls {
			if call.ID == id && call.State == store.Ended {
				return true
			}
		}
		return false
	}
}

func TestPodDiesWhileStreaming(t *testing.T) {
	t.Parallel()
	storetest.Each(t, diesWhileStreaming)
}

// What was heard of the dead pod's answer is said once.
func diesWhileStreaming(t *testing.T, open func() *store.Store) {
	for name, tt := range map[string]struct {
		replaces bool
		second   string
		text     string
	}{
		"goes on":     {false, "lost words found", "lost words found"},
		"is replaced": {true, "whole", "whole"},
		"differs":     {false, "whole", "lost words"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newFixtureOn(t, open)
			gate := make(chan struct{})
			defer close(gate)
			w.model.Script(modeltest.Say("lost ", "words").Wait(gate), modeltest.Say(tt.second))
			dying := w.pod()
			s := dying.invoke(&agentv1.InvokeRequest{Message: "hi", Replaces: tt.replaces})
			testkit.Eventually(t, soon, func() bool {
				kept, err := dying.store.Events(t.Context(), s.Ref, s.After, 0)
				return err == nil && events(kept).heard() == "lost words"
			}, "the text is kept")
			dying.faults.cutOff()
			other := w.pod()
			if tt.text != tt.second {
				brokeOff(t, other, s, tt.text)
				return
			}
			got := dying.ended(s)
			if got.text() != tt.text || !tt.replaces && got.heard() != tt.text {
				t.Errorf("%q, and %q to a client that knows no replaces: %v", got.text(), got.heard(), got)
			}
		})
	}
}

func TestPodDiesBeforeACallStarts(t *testing.T) {
	t.Parallel()
	storetest.Each(t, diesBeforeACallStarts)
}

func diesBeforeACallStarts(t *testing.T, open func() *store.Store) {
	f := echo("look")
	w := newFixtureOn(t, open, f)
	w.model.Script(modeltest.Call("look", nil), modeltest.Call("look", nil), modeltest.Say("."))
	dying := w.pod()
	dying.faults.before = started("call_0")
	s := dying.say("go")
	dying.forgets(t)
	w.pod()
	if got := dying.ended(s); len(f.seen()) != 1 || len(got.results()) != 1 || got.results()[0].GetOutcome() != "" {
		t.Errorf("%d calls, %v", len(f.seen()), got.results())
	}
}

// unknown is what the agent and the client are told of a call that may have run.
func unknown(t *testing.T, w *fixture, got events, id string) {
	t.Helper()
	for _, r := range got.results() {
		if r.GetToolCallId() == id && (r.GetOutcome() != "unknown" || !strings.Contains(r.GetResult(), "may have run")) {
			t.Errorf("%v", r)
		}
	}
	requests := w.model.Requests()
	if told := string(requests[len(requests)-1].Body); !strings.Contains(told, "may have run; it was not run again") {
		t.Errorf("the model was told %s", told)
	}
}

func TestPodDiesAfterACallStarted(t *testing.T) {
	t.Parallel()
	storetest.Each(t, diesAfterACallStarted)
}

func diesAfterACallStarted(t *testing.T, open func() *store.Store) {
	f := echo("look")
	w := newFixtureOn(t, open, f)
	w.model.Script(modeltest.Call("look", nil), modeltest.Say("I see"))
	dying := w.pod()
	dying.faults.after = started("call_0") // kept, but the pod never learns
	s := dying.say("go")
	dying.forgets(t)
	w.pod()
	got := dying.ended(s)
	if len(f.seen()) != 0 || got.text() != "I see" {
		t.Errorf("%d calls, %q", len(f.seen()), got.text())
	}
	unknown(t, w, got, "call_0")
}

func TestPodDiesBeforeAResultIsStored(t *testing.T) {
	t.Parallel()
	storetest.Each(t, diesBeforeAResultIsKept)
}

func diesBeforeAResultIsKept(t *testing.T, open func() *store.Store) {
	f := echo("look")
	w := newFixtureOn(t, open, f)
	w.model.Script(modeltest.Call("look", nil))
	w.model.Otherwise(modeltest.Say("I see")) // while a result is kept the model is asked
	dying := w.pod()
	dying.faults.before = endedCall("call_0")
	s := dying.say("go")
	dying.forgets(t)
	w.pod()
	got := dying.ended(s)
	if len(f.seen()) != 1 || got.text() != "I see" {
		t.Errorf("%d calls, %q", len(f.seen()), got.text())
	}
	unknown(t, w, got, "call_0")
}

func TestPodDiesBetweenTwoCalls(t *testing.T) {
	t.Parallel()
	storetest.Each(t, diesBetweenTwoCalls)
}

func diesBetweenTwoCalls(t *testing.T, open func() *store.Store) {
	one, two := echo("one"), echo("two")
	w := newFixtureOn(t, open, one, two)
	w.model.Script(modeltest.Calls(modeltest.ToolCall{Name: "one"}, modeltest.ToolCall{Name: "two"}), modeltest.Say("."))
	dying := w.pod()
	dying.faults.after = endedCall("call_0")
	s := dying.say("go")
	dying.forgets(t)
	w.pod()
	got := dying.ended(s)
	// That the first ended and the second started is one commit.
	if len(one.seen()) != 1 || len(two.seen()) != 0 || got.results()[0].GetOutcome() != "" || got.results()[1].GetOutcome() != "unknown" {
		t.Errorf("%d, %d, %v", len(one.seen()), len(two.seen()), got.results())
	}
}

func TestPodDiesWhileParallelCallsRun(t *testing.T) {
	t.Parallel()
	storetest.Each(t, diesWhileParallelCallsRun)
}

func diesWhileParallelCallsRun(t *testing.T, open func() *store.Store) {
	gate := make(chan struct{})
	defer close(gate)
	slow := newFake("slow", func(ctx context.Context, _ tool.Invocation) (tool.Result, error) {
		select {
		case <-gate:
		case <-ctx.Done():
		}
		return tool.Result{}, nil
	})
	quick := echo("quick")
	slow.spec.Parallel, quick.spec.Parallel = true, true
	w := newFixtureOn(t, open, slow, quick)
	w.model.Script(modeltest.Calls(modeltest.ToolCall{Name: "slow"}, modeltest.ToolCall{Name: "quick"}), modeltest.Say("."))
	dying := w.pod()
	dying.faults.after = endedCall("call_1")
	s := dying.say("go")
	testkit.Eventually(t, soon, func() bool { return dying.faults.closed() != nil }, "the pod has died")
	w.pod()
	got := dying.ended(s)
	if len(slow.seen()) != 1 || len(quick.seen()) != 1 || len(got.results()) != 2 {
		t.Errorf("%d, %d, %v", len(slow.seen()), len(quick.seen()), got.results())
	}
	unknown(t, w, got, "call_0")
}

func TestPodDiesWhileAPersonDecides(t *testing.T) {
	t.Parallel()
	storetest.Each(t, diesWhileAPersonDecides)
}

func diesWhileAPersonDecides(t *testing.T, open func() *store.Store) {
	w, dying, click, _, s := clickAndLook(t, open)
	dying.faults.cutOff()
	w.model.Script(modeltest.Say("."))
	other := w.pod()
	if got := other.ended(other.resume(s, decision("call_0", "approved"))); got.finish() != "stop" || len(click.seen()) != 1 {
		t.Errorf("%v", got)
	}
}

func TestPodDiesDuringResume(t *testing.T) {
	t.Parallel()
	storetest.Each(t, diesDuringResume)
}

func diesDuringResume(t *testing.T, open func() *store.Store) {
	w, first, click, look, s := clickAndLook(t, open)
	first.faults.cutOff()
	w.model.Script(modeltest.Say("."))
	dying := w.pod()
	dying.faults.before = func(store.Change) bool { return true } // decided, and nothing after it
	next := dying.resume(s, decision("call_0", "approved"))
	dying.forgets(t)
	other := w.pod()
	if got := other.ended(next); got.finish() != "stop" || len(click.seen()) != 1 || len(look.seen()) != 1 {
		t.Errorf("%d, %d, %v", len(click.seen()), len(look.seen()), got)
	}
}

// A pod that was only cut off for a while must not go on with what is another's.
func TestPodContinuesAfterItsRunWasAdopted(t *testing.T) {
	t.Parallel()
	storetest.Each(t, comesBackTooLate)
}

func comesBackTooLate(t *testing.T, open func() *store.Store) {
	gate := make(chan struct{})
	f := newFake("look", func(ctx context.Context, _ tool.Invocation) (tool.Result, error) {
		select {
		case <-gate:
			return tool.Result{Text: "late"}, nil
		case <-ctx.Done():
			return tool.Result{}, ctx.Err()
		}
	})
	w := newFixtureOn(t, open, f)
	w.model.Script(modeltest.Call("look", nil))
	w.model.Otherwise(modeltest.Say("without it"))
	paused := w.pod()
	s := paused.say("go")
	testkit.Eventually(t, soon, func() bool { return len(f.seen()) == 1 }, "the call is made")
	paused.faults.cutOff()
	got := w.pod().ended(s)
	paused.faults.mu.Lock()
	paused.faults.cut = false
	paused.faults.mu.Unlock()
	close(gate)
	paused.forgets(t)
	if after := paused.ended(s); len(after) != len(got) || after.text() != "without it" || len(f.seen()) != 1 {
		t.Errorf("%v", after)
	}
}

// A pod that stops lets the call in progress end, and hands the run over at once.
func TestPodStops(t *testing.T) {
	t.Parallel()
	storetest.Each(t, stops)
}

func stops(t *testing.T, open func() *store.Store) {
	began, gate := make(chan struct{}), make(chan struct{})
	f := newFake("look", func(context.Context, tool.Invocation) (tool.Result, error) {
		close(began)
		<-gate
		return tool.Result{Text: "seen"}, nil
	})
	w := newFixtureOn(t, open, f)
	w.model.Script(modeltest.Call("look", nil), modeltest.Say("done"))
	leaving := w.pod()
	s := leaving.say("go")
	<-began
	stopped := make(chan error)
	go func() { stopped <- leaving.Stop(t.Context()) }()
	testkit.Eventually(t, soon, func() bool {
		_, err := leaving.Invoke(t.Context(), user, &agentv1.InvokeRequest{Message: "more", SessionId: string(s.Session)})
		return errors.Is(err, errs.AgentUnavailable) // RUN_ACTIVE before
	}, "the pod takes no new run")
	close(gate)
	if err := <-stopped; err != nil {
		t.Fatal(err)
	}
	if leaving.Active() != 0 {
		t.Error("a run is left")
	}
	if got := w.pod().ended(s); got.text() != "done" || got.results()[0].GetResult() != "seen" {
		t.Errorf("%v", got)
	}
}

// A pod that stops cuts the model's answer.
func TestPodStopsWhileStreaming(t *testing.T) {
	t.Parallel()
	storetest.Each(t, stopsWhileStreaming)
}

func stopsWhileStreaming(t *testing.T, open func() *store.Store) {
	w := newFixtureOn(t, open)
	gate := make(chan struct{})
	defer close(gate)
	w.model.Script(modeltest.Say("whole").Wait(gate), modeltest.Say("whole story"))
	leaving := w.pod()
	s := leaving.say("go")
	testkit.Eventually(t, soon, func() bool { return leaving.state(s).LastSeq > 0 }, "text came")
	if err := leaving.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := w.pod().ended(s); got.heard() != "whole story" {
		t.Errorf("%v", got)
	}
}

func TestManyRunsAreAdopted(t *testing.T) {
	t.Parallel()
	storetest.Each(t, manyRunsAreAdopted)
}

func manyRunsAreAdopted(t *testing.T, open func() *store.Store) {
	w := newFixtureOn(t, open)
	gate := make(chan struct{})
	defer close(gate)
	w.model.Script(modeltest.Repeat(40, modeltest.Say("who").Wait(gate))...)
	dying := w.pod()
	var runs []agent.Started
	for range 40 {
		runs = append(runs, dying.say("go"))
	}
	testkit.Eventually(t, soon, func() bool { return len(w.model.Requests()) == 40 }, "all ask")
	dying.faults.cutOff()
	w.model.Otherwise(modeltest.Say("whole"))
	other := w.pod()
	for _, s := range runs {
		if got := other.ended(s); got.text() != "whole" {
			t.Errorf("%q", got.text())
		}
	}
}
