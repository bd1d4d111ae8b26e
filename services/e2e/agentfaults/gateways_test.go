package agentfaults_test

import (
	"net/http"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/model/modeltest"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	orchestrator "github.com/hecaton-dev/hecaton/services/agent-orchestrator/app"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// A client whose gateway dies comes back to another one with the number of the last event that it has.
func TestAClientOfAKilledGatewayComesBackToAnother(t *testing.T) {
	t.Parallel()
	cluster.EachStorage(t, func(t *testing.T, database string) {
		w := newFixture(t, cluster.Options{Gateways: 1, GatewayProcesses: 1, Database: database})
		gate := make(chan struct{})
		u := w.join(t, "ana", modeltest.Say("one ", "two ").Wait(gate).Then(modeltest.Say("three").Then(click(1))), modeltest.Say("."))
		u.serve()
		first := u.invoke(w.Gateways[1])
		first.Until("text")
		w.Gateways[1].Process.Kill()
		heard := first.All()
		close(gate)

		last := strconv.FormatInt(heard[len(heard)-1].Seq, 10)
		rest := w.Gateways[0].Stream(t, http.MethodGet, "/api/agent/sessions/"+first.Session+"/events", nil,
			http.Header{"X-User-Id": {u.name}, "Last-Event-Id": {last}})
		for rest.Until("complete").FinishReason != "stop" {
		}
		rest.Leave() // it would go on with the next run
		all := slices.Concat(heard, rest.Heard)
		for i, e := range all {
			if e.Seq != int64(i+1) {
				t.Fatalf("event %d stands at %d", e.Seq, i+1)
			}
		}
		if got := cluster.Said(all); got != "one two three." {
			t.Errorf("it said %q", got)
		}
		u.ledger.Once(t, 1)
	})
}

// The gateway that a call went through dies while the node, at another gateway, works on it: the outcome of the call is
// unknown.
func TestACallThroughAKilledGatewayIsUnknown(t *testing.T) {
	t.Parallel()
	w := newFixture(t, cluster.Options{Gateways: 1, GatewayProcesses: 1, Orchestrators: 1, Orchestrator: func(_ int, c *orchestrator.Config) {
		c.Gateways = c.Gateways[1:] // the one that is killed, and comes back nowhere
	}})
	u := w.join(t, "ana", click(1), modeltest.Say("done"))
	s := u.invoke(w.Gateways[0])
	call := u.hold()
	w.Gateways[1].Process.Kill()
	e := s.Until("tool_call_result")
	u.answer(call)
	u.ends(s, "stop")
	if e.Outcome != "unknown" {
		t.Error(e.Data)
	}
	u.ledger.Once(t, 1)
}

// All gateways that an orchestrator knows cannot be reached for a while: what was sent may have run, what comes meanwhile is
// not delivered, and afterwards all is as before.
func TestAllGatewaysOfAnOrchestratorAreAwayForAWhile(t *testing.T) {
	t.Parallel()
	var proxies []*cluster.Proxy
	w := newFixture(t, cluster.Options{Orchestrators: 1, Orchestrator: func(_ int, c *orchestrator.Config) {
		for i, addr := range c.Gateways {
			proxies = append(proxies, cluster.NewProxy(t, addr))
			c.Gateways[i] = proxies[i].Addr()
		}
	}})
	back := make(chan struct{})
	u := w.join(t, "ana", click(1), click(2), modeltest.Say().Wait(back).Then(click(3)), modeltest.Say("done"))
	s := u.invoke(w.Gateways[1])
	call := u.hold()
	for _, p := range proxies {
		p.Cut()
	}
	healed := time.AfterFunc(2*time.Second, func() {
		for _, p := range proxies {
			p.Heal()
		}
		close(back)
	})
	defer healed.Stop()
	if e := s.Until("tool_call_result"); e.Outcome != "unknown" {
		t.Errorf("a call that was sent: %s", e.Data)
	}
	u.answer(call)
	u.serve()
	second := s.Until("tool_call_result")
	third := s.Until("tool_call_result")
	u.ends(s, "stop")
	ran := []int{1, 3}
	switch {
	case second.Outcome == "": // it waited until they were back
		ran = []int{1, 2, 3}
	case second.Outcome != "not_delivered":
		t.Errorf("a call meanwhile: %s", second.Data)
	}
	if third.Result != "3" {
		t.Errorf("a call afterwards: %s", third.Data)
	}
	u.ledger.Once(t, ran...)
}

// The bus is away in the middle of answers and of calls. Runs do not need it to go on, and their streams do not either.
func TestRunsGoOnWithoutTheBus(t *testing.T) {
	t.Parallel()
	w := newFixture(t, cluster.Options{})
	gate := make(chan struct{})
	text := w.join(t, "text", modeltest.Say("one ").Wait(gate).Then(modeltest.Say("two ", "three")))
	// The run is at either orchestrator, and so is what the second client hears of it.
	streams := []*cluster.Stream{text.invoke(w.Gateways[0])}
	streams[0].Until("text")
	for _, g := range []int{0, 1, 0, 1} {
		streams = append(streams, w.Gateways[g].Events(t, text.name, streams[0].Session, 0))
	}
	for _, s := range streams[1:] {
		s.Until("text")
	}
	calls := w.join(t, "calls", click(1), modeltest.Say("done"))
	call := calls.invoke(w.Gateways[0])
	held := calls.hold()

	w.NATS.Stop()
	close(gate)
	for _, s := range streams {
		s.Until("complete")
		text.wantSaid(s, "one two three")
		text.kept(s)
	}
	calls.answer(held)
	w.NATS.Start()
	calls.ends(call, "stop")
	calls.ledger.Once(t, 1)

	after := w.join(t, "after", click(1), modeltest.Say("done"))
	after.serve()
	s := after.invoke(w.Gateways[1])
	after.ends(s, "stop")
	after.wantResults(s, map[string]string{"call_0": "1"})
}

// The bus is there and lets nothing through. What one orchestrator says still reaches those who listen at the other.
func TestRunsGoOnWhileTheBusHangs(t *testing.T) {
	t.Parallel()
	bus := testkit.OwnNATS(t)
	proxy := cluster.NewProxy(t, bus.Addr())
	w := newFixture(t, cluster.Options{Paired: true, NATSURL: "nats://" + proxy.Addr()})
	gate := make(chan struct{})
	u := w.join(t, "ana", modeltest.Say("one ").Wait(gate).Then(modeltest.Say("two").Then(modeltest.Call("read_todos", "{}"))), modeltest.Say("."),
		modeltest.Say("and on"))
	here := u.invoke(w.Gateways[0])
	here.Until("text")
	there := w.Gateways[1].Events(t, u.name, here.Session, 0)
	there.Until("text")
	proxy.Freeze()
	close(gate)
	u.ends(here, "stop")
	there.Until("complete")
	u.wantSaid(there, "one two.")
	next := w.Gateways[1].Invoke(t, u.name, u.body(map[string]any{"message": "On.", "session_id": here.Session}))
	next.Until("complete")
	proxy.Heal()
}
