package agentfaults_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/model/modeltest"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// Nothing of a run that waits is in any pod.
func TestARunWaitsThroughARestartOfAllPods(t *testing.T) {
	t.Parallel()
	cluster.EachStorage(t, func(t *testing.T, database string) {
		w := newFixture(t, cluster.Options{Database: database})
		u := w.join(t, "ana", each("pay", 1, 2), modeltest.Say("done"))
		s := u.invoke(w.Gateways[0])
		calls := u.interrupted(s)
		for _, o := range w.Orchestrators {
			o.Stop(t)
		}
		for _, o := range w.Orchestrators {
			o.Start()
		}
		u.serve()
		yes := u.decision(s.Session, "approved", calls)
		again := w.Gateways[1].Resume(u, u.name, yes)
		u.ends(again, "stop")
		u.wantResults(again, map[string]string{"call_0": "1", "call_1": "2"})
		u.ledger.Once(t, 1, 2)
		for i, g := range w.Gateways {
			if r := g.Do(t, "POST", "/api/agent/resume", u.name, marshal(t, yes), nil); r.Status != 409 || r.Body["reason"] != "ALREADY_DECIDED" {
				t.Errorf("a second resume at gateway %d: %d %s", i, r.Status, r.Raw)
			}
		}
		u.ledger.Once(t, 1, 2)
	})
}

// The database stops or hangs in the middle of answers and of calls. Runs wait for it: nothing is lost, nothing runs twice,
// and no client gets an error.
func TestRunsWaitForPostgreSQL(t *testing.T) {
	t.Parallel()
	server := testkit.OwnPostgres(t)
	w := newFixture(t, cluster.Options{Database: server.URL()})
	for how, restart := range map[string]func(){"restarted": server.Restart, "killed": func() { server.Kill(); server.Start() }} {
		gate := make(chan struct{})
		var streams []*client
		add := func(name string, answers ...modeltest.Answer) *client {
			u := w.join(t, how+name, answers...)
			c := &client{u, u.invoke(w.Gateways[len(streams)%2])}
			streams = append(streams, c)
			return c
		}
		text := add("text", modeltest.Say("one ").Wait(gate).Then(modeltest.Say("two ", "three")))
		text.stream.Until("text")
		call := add("call", each("click", 1, 2), modeltest.Say("done"))
		first := call.hold()
		result := add("result", click(1), modeltest.Say("done"))
		during := result.hold()
		waits := add("waits", each("pay", 1), modeltest.Say("done"))
		asked := waits.interrupted(waits.stream)

		var away sync.WaitGroup
		away.Go(func() { result.answer(during); close(gate) }) // sometime meanwhile
		restart()
		away.Wait()

		call.answer(first)
		call.serve()
		text.ends(text.stream, "stop")
		text.wantSaid(text.stream, "one two three")
		call.ends(call.stream, "stop")
		call.wantResults(call.stream, map[string]string{"call_0": "1", "call_1": "2"})
		call.ledger.Once(t, 1, 2)
		result.ends(result.stream, "stop")
		result.wantResults(result.stream, map[string]string{"call_0": "1"})
		result.ledger.Once(t, 1)
		waits.serve()
		yes := w.Gateways[1].Resume(t, waits.name, waits.decision(waits.stream.Session, "approved", asked))
		waits.ends(yes, "stop")
		waits.ledger.Once(t, 1)
		for _, c := range streams {
			for _, e := range c.stream.Heard {
				if e.Type == "error" || e.Replaces != "" {
					t.Error(fmt.Sprint(how, ": ", e.Data))
				}
			}
		}
	}
}
