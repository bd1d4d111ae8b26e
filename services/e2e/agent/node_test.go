package agent_test

import (
	"slices"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/model/modeltest"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// chosen are the ids of the nodes that an interrupt asks to choose from.
func chosen(t *testing.T, w *fixture, p *person, session string) (ids []string) {
	t.Helper()
	interrupt, _ := p.get(1, "/api/agent/sessions/"+session).Body["interrupt"].(object)
	nodes, _ := interrupt["available_nodes"].([]any)
	for _, n := range nodes {
		ids = append(ids, n.(object)["node_id"].(string))
	}
	slices.Sort(ids)
	return ids
}

func TestWhichNode(t *testing.T) {
	t.Parallel()
	onEachStorage(t, map[string]func(*testing.T, *fixture){
		"one node is taken without asking, and the session stays with it": func(t *testing.T, w *fixture) {
			p := w.person(t)
			p.node(0, "first", "click")
			p.model(clicks(1), modeltest.Say("Done."), clicks(2), modeltest.Say("Done."))
			run := p.invoke(1, "Click.")
			run.Complete("stop")
			if r := p.get(0, "/api/node/session/"+run.Session); r.Body["node_id"] != "first" {
				t.Error(r.Raw)
			}
			second := p.bare(1, "second", "click")
			p.invoke(0, "Again.", object{"session_id": run.Session}).Complete("stop")
			second.Silent()
			p.ledger.Once(t, 1, 2)
		},
		"one that has come since the last run is in the first request, and no answer is asked for twice": func(t *testing.T, w *fixture) {
			p := w.person(t)
			p.model(modeltest.Say("Hello."), clicks(1), modeltest.Say("Done."))
			run := p.invoke(0, "Hello.")
			run.Complete("stop")
			p.node(0, "late", "click")
			p.invoke(1, "Click.", object{"session_id": run.Session}).Complete("stop")
			p.ledger.Once(t, 1)
			if n := len(p.asked()); n != 3 {
				t.Errorf("the model was asked %d times for 3 answers", n)
			}
		},
		"several nodes are asked about, and the answer counts on the other pod": func(t *testing.T, w *fixture) {
			p := w.person(t)
			p.node(0, "yes", "click")
			other := p.bare(1, "no", "click")
			p.model(clicks(1, 2), clicks(3), modeltest.Say("Done."))
			run := p.invoke(0, "Click.")
			e := p.waiting(run)
			if e.Reason != "node_selection" {
				t.Error(e.Data)
			}
			if got := chosen(t, w, p, run.Session); !slices.Equal(got, []string{"no", "yes"}) {
				t.Errorf("to choose from: %v", got)
			}
			p.refused(p.tryResume(1, run.Session, results()), 422, "MISSING_DECISION")
			p.refused(p.tryResume(1, run.Session, object{"node_id": "elsewhere"}), 422, "INVALID_DECISION")
			p.ledger.Once(t)
			p.resume(1, run.Session, object{"node_id": "yes"}).Complete("stop")
			p.ledger.Once(t, 1, 2, 3)
			other.Silent()
			if r := p.get(0, "/api/node/session/"+run.Session); r.Body["node_id"] != "yes" {
				t.Error(r.Raw)
			}
		},
		"the node first, then the approval, which names it": func(t *testing.T, w *fixture) {
			p := w.person(t)
			p.node(0, "yes", "click")
			p.bare(1, "no", "click")
			p.model(clicks(1), modeltest.Say("Done."))
			run := p.invoke(0, "Click.", asks("click"))
			if e := p.waiting(run); e.Reason != "node_selection" {
				t.Error(e.Data)
			}
			again := p.resume(1, run.Session, object{"node_id": "yes"})
			e := p.waiting(again)
			if e.Reason != "approval" || len(e.ToolCalls) != 1 || e.ToolCalls[0].NodeID != "yes" {
				t.Error(e.Data)
			}
			p.ledger.Once(t)
			p.resume(0, run.Session, results(decision("call_1", "approved", object{"digest": e.ToolCalls[0].Digest}))).Complete("stop")
			p.ledger.Once(t, 1)
		},
		"rejected calls need no node": func(t *testing.T, w *fixture) {
			p := w.person(t)
			a, b := p.bare(0, "a", "click"), p.bare(1, "b", "click")
			p.model(clicks(1), modeltest.Say("Done."))
			run := p.invoke(0, "Click.")
			p.waiting(run)
			p.resume(1, run.Session, results(decision("call_1", "rejected"))).Complete("stop")
			a.Silent()
			b.Silent()
		},
		"a preferred node is taken without asking": func(t *testing.T, w *fixture) {
			p := w.person(t)
			other := p.bare(0, "other", "click")
			p.node(1, "mine", "click")
			p.model(clicks(1), modeltest.Say("Done."))
			run := p.invoke(0, "Click.", object{"preferred_node_id": "mine"})
			if e := run.Until("tool_call_result"); e.Result != "1" {
				t.Error(e.Data)
			}
			run.Complete("stop")
			other.Silent()
		},
		"a session that was bound by hand keeps its node": func(t *testing.T, w *fixture) {
			p := w.person(t)
			p.node(0, "bound", "click")
			other := p.bare(1, "other", "click")
			session := "session-of-" + p.name
			if r := p.post(0, "/api/node/bind", object{"session_id": session, "node_id": "bound"}); r.Status != 200 {
				t.Fatal(r.Raw)
			}
			p.model(clicks(1), modeltest.Say("Done."))
			p.invoke(1, "Click.", object{"session_id": session}).Complete("stop")
			other.Silent()
			p.ledger.Once(t, 1)
		},
		"a binding changed between two calls sends the second one to the new node": func(t *testing.T, w *fixture) {
			p := w.person(t)
			p.node(0, "bound", "click")
			session := "session-of-" + p.name
			rebound := make(chan struct{})
			p.model(clicks(1), modeltest.Say().Wait(rebound).Then(clicks(2)), clicks(3), modeltest.Say("Done."))
			run := p.invoke(1, "Click.", object{"session_id": session})
			if e := run.Until("tool_call_result"); e.Result != "1" {
				t.Error(e.Data)
			}
			other := &cluster.Ledger{}
			p.bare(1, "other", "click").Serve(other.See)
			if r := p.post(0, "/api/node/bind", object{"session_id": session, "node_id": "other"}); r.Status != 200 {
				t.Fatal(r.Raw)
			}
			close(rebound)
			for _, want := range []string{"2", "3"} {
				if e := run.Until("tool_call_result"); e.Result != want {
					t.Error(e.Data)
				}
			}
			run.Complete("stop")
			p.ledger.Once(t, 1)
			other.Once(t, 2, 3)
		},
		"a binding changed between question and answer stops the call": func(t *testing.T, w *fixture) {
			p := w.person(t)
			shown, other := p.bare(0, "shown", "click"), p.bare(1, "other", "click")
			session := "session-of-" + p.name
			bind := func(node string) {
				if r := p.post(0, "/api/node/bind", object{"session_id": session, "node_id": node}); r.Status != 200 {
					t.Fatal(r.Raw)
				}
			}
			bind("shown")
			p.model(clicks(1), modeltest.Say("Done."))
			p.waiting(p.invoke(0, "Click.", object{"session_id": session}, asks("click")))
			bind("other")
			run := p.resume(1, session, results(decision("call_1", "approved")))
			if e := run.Until("tool_call_result"); e.Outcome != "not_delivered" {
				t.Error(e.Data)
			}
			run.Complete("stop")
			shown.Silent()
			other.Silent()
		},
		"no node at all is told to the agent": func(t *testing.T, w *fixture) {
			p := w.person(t)
			node := p.bare(0, "gone", "click")
			p.model(clicks(1), modeltest.Say("It is gone."))
			run := p.invoke(0, "Click.", asks("click"))
			p.waiting(run)
			node.Close()
			again := p.resume(1, run.Session, results(decision("call_1", "approved")))
			if e := again.Until("tool_call_result"); e.Outcome != "not_delivered" || e.Reason != "NODE_NOT_CONNECTED" {
				t.Error(e.Data)
			}
			again.Complete("stop")
		},
	})
}
