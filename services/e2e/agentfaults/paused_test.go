package agentfaults_test

import (
	"fmt"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/model/modeltest"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// An orchestrator is paused, in the middle of an answer and of a call, until its leases have expired. The other one adopts
// its runs. When the first one continues, it writes nothing, streams nothing, asks no model and calls no tool for these
// runs.
func TestAnOrchestratorThatWasPausedDoesNothingAnyMore(t *testing.T) {
	t.Parallel()
	cluster.EachStorage(t, func(t *testing.T, database string) {
		w := newFixture(t, cluster.Options{OrchestratorProcesses: true, Database: database})
		paused, other := w.Orchestrators[0], w.Orchestrators[1]
		old, hold := make(chan struct{}), make(chan struct{})
		answers := w.on(t, paused, "answers", func(u *user) *cluster.Stream {
			u.script(modeltest.Say("one ").Wait(old).Then(modeltest.Say("two").Then(click(1))),
				modeltest.Say("one again").Wait(hold).Then(click(2)), modeltest.Say("."))
			s := u.invoke(u.Gateways[0])
			s.Until("text")
			return s
		})
		answers.serve()
		calls := w.on(t, paused, "calls", func(u *user) *cluster.Stream {
			u.script(each("click", 1, 2), modeltest.Say("done").Wait(hold).Then(modeltest.Say(".")))
			return u.invoke(u.Gateways[1])
		})
		first := calls.hold()

		paused.Process.Pause(t)
		second := calls.hold() // of the other: the first one's outcome is unknown
		soon(t, func() bool { return len(answers.asked()) == 2 }, "the model is asked again")
		paused.Process.Continue(t)
		close(old)
		calls.answer(first)
		soon(t, func() bool { return active(t, paused) == 0 }, "the paused one has let go")
		calls.answer(second)
		soon(t, func() bool { return len(calls.asked()) == 2 }, "the model is told of the calls")
		close(hold)

		answers.ends(answers.stream, "stop")
		answers.wantSaid(answers.stream, "one again.")
		answers.ledger.Once(t, 2)
		calls.ends(calls.stream, "stop")
		calls.wantSaid(calls.stream, "done.")
		calls.wantResults(calls.stream, map[string]string{"call_0": "unknown", "call_1": "2"})
		calls.ledger.Once(t, 1, 2)
		if len(answers.asked()) != 3 || len(calls.asked()) != 2 {
			t.Errorf("the model was asked %d and %d times, want 3 and 2", len(answers.asked()), len(calls.asked()))
		}
		if n := other.Metric(t, `hecaton_agent_runs_ended_total{finish_reason="stop"}`); n < 2 {
			t.Errorf("%v runs ended at the other", n)
		}
	})
}

// Its connections stay open and say nothing: the streams through it leave it nevertheless.
func TestAStreamLeavesAnOrchestratorThatStandsStill(t *testing.T) {
	t.Parallel()
	w := newFixture(t, cluster.Options{OrchestratorProcesses: true})
	u := w.on(t, w.Orchestrators[1], "user", func(u *user) *cluster.Stream {
		u.script(modeltest.Say("one ").Stall(1), modeltest.Say("one again"))
		s := u.invoke(u.Gateways[0])
		s.Until("text")
		return s
	})
	w.Orchestrators[1].Process.Pause(t)
	defer w.Orchestrators[1].Process.Continue(t)
	u.ends(u.stream, "stop")
	u.wantSaid(u.stream, "one again")
}

// client is a user whose run has begun.
type client struct {
	*user
	stream *cluster.Stream
}

// on begins runs until one is at this orchestrator; the others are cancelled.
func (w *fixture) on(t *testing.T, o *cluster.Orchestrator, name string, begin func(u *user) *cluster.Stream) *client {
	t.Helper()
	for n := 0; ; n++ {
		before := active(t, o)
		u := w.join(t, fmt.Sprint(name, n))
		s := begin(u)
		if soon(t, func() bool { return active(t, w.Orchestrators[0])+active(t, w.Orchestrators[1]) > 0 }, "it is worked on"); active(t, o) > before {
			return &client{u, s}
		}
		u.cancel(s)
		if n%2 == 0 { // orchestrators take turns: an even number of requests a round would always come to the same one
			u.sessions()
		}
	}
}

// cancel ends a run and leaves it.
func (u *user) cancel(s *cluster.Stream) {
	u.Helper()
	for _, known := range u.sessions() {
		u.Gateways[0].Post(u, "/api/agent/sessions/"+known+"/cancel", u.name, "")
	}
	s.Leave()
}

// sessions are the ids of the user's sessions.
func (u *user) sessions() (ids []string) {
	u.Helper()
	list, _ := u.Gateways[0].Get(u, "/api/agent/sessions", u.name).Body["sessions"].([]any)
	for _, one := range list {
		session, _ := one.(map[string]any)
		ids = append(ids, fmt.Sprint(session["session_id"]))
	}
	return ids
}
