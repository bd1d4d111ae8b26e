package agent_test

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/model/modeltest"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	orchestrator "github.com/hecaton-dev/hecaton/services/agent-orchestrator/app"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

func TestResume(t *testing.T) {
	t.Parallel()
	onEachStorage(t, map[string]func(*testing.T, *fixture){
		"works on the other gateway and the other orchestrator": func(t *testing.T, w *fixture) {
			p := w.person(t)
			p.node(0, "chrome", "click")
			p.model(clicks(1), modeltest.Say("Done."))
			run := p.invoke(0, "Click.", asks("click"))
			asked := p.waiting(run)
			p.ledger.Once(t)
			again := p.resume(1, run.Session, results(decision("call_1", "approved", object{"digest": asked.ToolCalls[0].Digest})))
			if e := again.Expect("tool_call_result"); e.Result != "1" || e.Seq != run.Seq+1 {
				t.Error(e.Data)
			}
			again.Complete("stop")
			p.ledger.Once(t, 1)
		},
		"tells the model the human order": func(t *testing.T, w *fixture) {
			p := w.person(t)
			p.node(1, "chrome", "click")
			p.model(clicks(1), modeltest.Say("Done."))
			run := p.invoke(0, "Click.", asks("click"))
			p.waiting(run)
			p.resume(1, run.Session, results(decision("call_1", "approved")), object{"human_order": "use the second card"}).Complete("stop")
			p.says(string(p.asked()[1].Body), "use the second card")
		},
		"may change what asks from then on": func(t *testing.T, w *fixture) {
			p := w.person(t)
			p.node(0, "chrome", "click", "type")
			p.model(clicks(1), clicks(2), modeltest.Call("type", `{"n":3}`), modeltest.Say("Done."))
			run := p.invoke(0, "Click.", asks("click"))
			p.waiting(run)
			// Without a config the invoke's stays.
			second := p.resume(1, run.Session, results(decision("call_1", "approved")))
			p.waiting(second)
			third := p.resume(0, run.Session, results(decision("call_2", "approved")), asks("type"))
			if e := p.waiting(third); e.ToolCalls[0].Name != "type" {
				t.Error(e.Data)
			}
			p.resume(1, run.Session, results(decision("call_0", "approved"))).Complete("stop")
			p.ledger.Once(t, 1, 2, 3)
		},
		"decides several calls of one answer alone": func(t *testing.T, w *fixture) {
			p := w.person(t)
			p.node(0, "chrome", "click", "type")
			p.model(clicks(1, 2, 3, 4).Then(modeltest.Calls(modeltest.ToolCall{ID: "free", Name: "type", Args: object{"n": 5}})), modeltest.Say("Done."))
			run := p.invoke(0, "Click.", asks("click"))
			if e := p.waiting(run); len(e.ToolCalls) != 4 {
				t.Error(e.Data)
			}
			p.ledger.Once(t) // nor does the one run that asks nobody
			again := p.resume(1, run.Session, results(
				decision("call_1", "approved"), decision("call_2", "rejected", object{"reason": "too dear"}),
				decision("call_3", "modified", object{"tool_args": object{"n": 33}}), decision("call_4", "timeout")))
			again.Complete("stop")
			p.ledger.Once(t, 1, 33, 5)
			p.says(p.told("call_2"), "rejected", "too dear", "Do not try")
			p.says(p.told("call_4"), "in time", "not a person's no")
			p.says(string(p.asked()[1].Body), `{\"n\":33}`)
		},
		"is refused where decisions do not fit, and the run goes on waiting": func(t *testing.T, w *fixture) {
			p := w.person(t)
			p.node(1, "chrome", "click")
			p.model(clicks(1, 2), modeltest.Say("Done."))
			run := p.invoke(0, "Click.", asks("click"))
			asked := p.waiting(run)
			first, second := asked.ToolCalls[0], asked.ToolCalls[1]
			for name, c := range map[string]struct {
				reason string
				body   object
			}{
				"none":           {"MISSING_DECISION", results()},
				"one of two":     {"MISSING_DECISION", results(decision("call_1", "approved"))},
				"unknown call":   {"UNKNOWN_CALL", results(decision("call_1", "approved"), decision("call_2", "approved"), decision("call_3", "approved"))},
				"doubled":        {"INVALID_DECISION", results(decision("call_1", "approved"), decision("call_1", "approved"), decision("call_2", "approved"))},
				"no such word":   {"INVALID_DECISION", results(decision("call_1", "approved"), decision("call_2", "fine"))},
				"forged":         {"DIGEST_DIFFERS", results(decision("call_1", "approved", object{"digest": second.Digest}), decision("call_2", "approved"))},
				"other args":     {"INVALID_DECISION", results(decision("call_1", "approved", object{"tool_args": object{"n": 7}}), decision("call_2", "approved"))},
				"modified alone": {"INVALID_DECISION", results(decision("call_1", "modified"), decision("call_2", "approved"))},
				"other tool":     {"INVALID_DECISION", results(decision("call_1", "approved", object{"tool_name": "type"}), decision("call_2", "approved"))},
			} {
				r := p.tryResume(len(name)%2, run.Session, c.body)
				if r.Status != http.StatusUnprocessableEntity || r.Body["reason"] != c.reason {
					t.Errorf("%s: %d %s, want %s", name, r.Status, r.Raw, c.reason)
				}
			}
			if r := p.get(0, "/api/agent/sessions/"+run.Session); r.Body["status"] != "interrupted" {
				t.Error(r.Raw)
			}
			p.ledger.Once(t)
			p.resume(1, run.Session, results(
				decision("call_1", "approved", object{"digest": first.Digest, "tool_args": object{"n": 1}}),
				decision("call_2", "approved", object{"digest": second.Digest}))).Complete("stop")
			p.ledger.Once(t, 1, 2)
		},
		"a second time runs nothing twice": func(t *testing.T, w *fixture) {
			p := w.person(t)
			node := p.bare(0, "chrome", "click")
			p.model(clicks(1), modeltest.Say("Done."))
			run := p.invoke(0, "Click.", asks("click"))
			p.waiting(run)
			yes := results(decision("call_1", "approved"))
			again := p.resume(1, run.Session, yes)
			call := node.Call()
			for g := range 2 { // while the call runs
				p.refused(p.tryResume(g, run.Session, yes), 409, "ALREADY_DECIDED")
				p.refused(p.tryResume(g, run.Session, results(decision("call_9", "approved"))), 409, "RUN_ACTIVE")
			}
			node.Answer(call, p.ledger.See(call))
			again.Complete("stop")
			for g := range 2 { // and later
				p.refused(p.tryResume(g, run.Session, yes), 409, "ALREADY_DECIDED")
				p.refused(p.tryResume(g, run.Session, results()), 409, "NOT_INTERRUPTED")
			}
			node.Silent()
			p.ledger.Once(t, 1)
		},
		"twenty at once on two pods: one wins": func(t *testing.T, w *fixture) {
			p := w.person(t)
			p.node(0, "chrome", "click")
			p.model(clicks(1), modeltest.Say("Done."))
			run := p.invoke(0, "Click.", asks("click"))
			p.waiting(run)
			var wg sync.WaitGroup
			got := make(chan cluster.Response, 20)
			for i := range 20 {
				wg.Go(func() { got <- p.tryResume(i%2, run.Session, results(decision("call_1", "approved"))) })
			}
			wg.Wait()
			close(got)
			won := 0
			for r := range got {
				if r.Status == 200 {
					won++
				} else {
					p.refused(r, 409, "ALREADY_DECIDED")
				}
			}
			if won != 1 {
				t.Errorf("%d resumes won", won)
			}
			p.ledger.Once(t, 1)
		},
	})
}

func TestAnApprovalOutlivesARestartOfAllOrchestrators(t *testing.T) {
	t.Parallel()
	cluster.EachStorage(t, func(t *testing.T, database string) {
		w := newFixture(t, cluster.Options{Database: database})
		p := w.person(t)
		p.node(0, "chrome", "click")
		p.model(clicks(1), modeltest.Say("Done."))
		run := p.invoke(0, "Click.", asks("click"))
		p.waiting(run)
		for _, o := range w.Orchestrators {
			o.Stop(t)
		}
		for _, o := range w.Orchestrators {
			o.Start()
		}
		// The model's key was kept as well: this resume brings none.
		again := w.Gateways[1].Resume(t, p.name, object{"session_id": run.Session, "tool_call_results": []object{decision("call_1", "approved")}})
		again.Complete("stop")
		p.ledger.Once(t, 1)
	})
}

func TestAnExpiredApproval(t *testing.T) {
	t.Parallel()
	cluster.EachStorage(t, func(t *testing.T, database string) {
		const ttl = 200 * time.Millisecond
		w := newFixture(t, cluster.Options{Database: database, Orchestrator: func(_ int, c *orchestrator.Config) { c.ApprovalTTL = ttl }})
		expired := func(t *testing.T) (*person, string) {
			p := w.person(t)
			p.node(0, "chrome", "click")
			p.model(clicks(1), modeltest.Say("Done."))
			run := p.invoke(0, "Click.", asks("click"))
			p.waiting(run)
			// A decision about something else than what was shown is refused for that, until it is refused for being late.
			different := results(decision("call_1", "approved", object{"digest": "different"}))
			testkit.Eventually(t, time.Minute, func() bool { return p.tryResume(0, run.Session, different).Status == 409 }, "the approval expires")
			return p, run.Session
		}
		within(t, w, map[string]func(*testing.T, *fixture){
			"cannot be given any more, but its end may be told": func(t *testing.T, _ *fixture) {
				p, session := expired(t)
				for _, late := range []object{
					decision("call_1", "approved"), decision("call_1", "rejected"), decision("call_1", "modified", object{"tool_args": object{"n": 2}}),
				} {
					p.refused(p.tryResume(1, session, results(late)), 409, "APPROVAL_EXPIRED")
				}
				p.resume(1, session, results(decision("call_1", "timeout"))).Complete("stop")
				p.says(p.told("call_1"), "not a person's no")
				p.ledger.Once(t)
			},
			"counts as undecided for the next message": func(t *testing.T, _ *fixture) {
				p, session := expired(t)
				run := p.invoke(1, "Never mind.", object{"session_id": session})
				run.Complete("stop")
				p.says(p.told("call_1"), "not a person's no")
				if m, _ := p.asked()[1].Last("user"); m.Content != "Never mind." {
					t.Errorf("the last message is %q", m.Content)
				}
				p.ledger.Once(t)
			},
		})
	})
}
