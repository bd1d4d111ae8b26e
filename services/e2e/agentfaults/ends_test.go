package agentfaults_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/model/modeltest"
	orchestrator "github.com/hecaton-dev/hecaton/services/agent-orchestrator/app"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// A run is cancelled, through either gateway, while a node works on a call: the node is told, the other calls do not run,
// the conversation says what is known of each call, and it can go on.
func TestARunIsCancelledDuringACall(t *testing.T) {
	t.Parallel()
	cluster.EachStorage(t, func(t *testing.T, database string) {
		w := newFixture(t, cluster.Options{Paired: true, Database: database})
		for i, from := range w.Gateways {
			u := w.join(t, []string{"ana", "bob"}[i], each("click", 1, 2, 3))
			s := w.Gateways[0].Invoke(t, u.name, u.body(map[string]any{"message": "Go."}))
			call := u.hold()
			began := time.Now()
			if r := from.Post(t, "/api/agent/sessions/"+session(u)+"/cancel", u.name, ""); r.Status != 200 || r.Body["cancelled"] != true {
				t.Fatalf("%d %s", r.Status, r.Raw)
			}
			if told := u.node.Call(); told.Method != "notifications/cancelled" {
				t.Errorf("the node is told %s", told.Frame)
			}
			u.answer(call)
			u.ends(s, "cancelled")
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("it took %v", took)
			}
			u.wantResults(s, map[string]string{"call_0": "unknown", "call_1": "cancelled", "call_2": "cancelled"})
			u.ledger.Once(t, 1)
			if r := from.Post(t, "/api/agent/sessions/"+s.Session+"/cancel", u.name, ""); r.Status != 200 || r.Body["cancelled"] != false {
				t.Errorf("again: %d %s", r.Status, r.Raw)
			}
			u.script(click(4), modeltest.Say("done"))
			u.serve()
			next := from.Invoke(t, u.name, u.body(map[string]any{"message": "On.", "session_id": s.Session}))
			u.ends(next, "stop")
			u.ledger.Once(t, 1, 4)
		}
	})
}

// session is the id of the user's only session.
func session(u *user) string {
	u.Helper()
	all := u.sessions()
	if len(all) != 1 {
		u.Fatalf("%s has the sessions %v", u.name, all)
	}
	return all[0]
}

// A client that leaves cancels its run where it said so, and only there.
func TestAClientLeavesDuringACall(t *testing.T) {
	t.Parallel()
	w := newFixture(t, cluster.Options{})
	for then, reason := range map[string]string{"cancel": "cancelled", "continue": "stop"} {
		u := w.join(t, then, click(1), modeltest.Say("done"))
		s := w.Gateways[0].Invoke(t, u.name, u.body(map[string]any{"message": "Go.", "on_disconnect": then}))
		call := u.hold()
		s.Leave()
		if then == "cancel" {
			if told := u.node.Call(); told.Method != "notifications/cancelled" {
				t.Errorf("the node is told %s", told.Frame)
			}
		}
		u.answer(call)
		rest := w.Gateways[1].Events(t, u.name, session(u), 0)
		if e := rest.Until("complete"); e.FinishReason != reason {
			t.Errorf("%s: %s", then, e.Data)
		}
		u.ledger.Once(t, 1)
	}
}

// A session is deleted while its run streams, and while a node works on a call of it: all of it is removed, its streams
// end, and its id may be used again.
func TestASessionIsDeletedWhileItRuns(t *testing.T) {
	t.Parallel()
	cluster.EachStorage(t, func(t *testing.T, database string) {
		w := newFixture(t, cluster.Options{Paired: true, Database: database})
		for i, from := range w.Gateways {
			text := w.join(t, []string{"ana", "bob"}[i], modeltest.Say("one ").Stall(1))
			streams := []*cluster.Stream{text.invoke(w.Gateways[0])}
			streams[0].Until("text")
			call := w.join(t, []string{"cai", "dee"}[i], each("click", 1, 2))
			streams = append(streams, call.invoke(w.Gateways[0]))
			held := call.hold()
			for n, u := range []*user{text, call} {
				id := session(u)
				watching := w.Gateways[1].Events(t, u.name, id, 0)
				if r := from.Do(t, http.MethodDelete, "/api/agent/sessions/"+id, u.name, "", nil); r.Status != 200 {
					t.Errorf("%d %s", r.Status, r.Raw)
				}
				streams[n].Complete("cancelled")
				watching.All() // it ends
				if r := from.Get(t, "/api/agent/sessions/"+id, u.name); r.Status != 404 {
					t.Errorf("it is still there: %s", r.Raw)
				}
				if r := from.Get(t, "/api/agent/sessions/"+id+"/events?follow=false", u.name); r.Status != 404 {
					t.Errorf("its events are still there: %s", r.Raw)
				}
				if n == 1 {
					u.answer(held)
				}
				u.script(modeltest.Say("anew"))
				again := from.Invoke(t, u.name, u.body(map[string]any{"message": "Go.", "session_id": id}))
				u.ends(again, "stop")
				if again.Heard[0].Seq != 1 || len(u.asked()[len(u.asked())-1].Messages) != 3 { // a prompt, what the node says, and the user's
					t.Errorf("it is not new: %s", again.Raw())
				}
			}
			call.ledger.Once(t, 1)
		}
	})
}

// An orchestrator that is stopped hands its runs over at once, without waiting for leases to expire. A call in progress may
// finish.
func TestAnOrchestratorDrainsWithRuns(t *testing.T) {
	t.Parallel()
	cluster.EachStorage(t, func(t *testing.T, database string) {
		w := newFixture(t, cluster.Options{Database: database, Orchestrator: func(_ int, c *orchestrator.Config) { c.LeaseTTL = time.Hour }})
		leaving := w.Orchestrators[1]
		text := w.on(t, leaving, "text", func(u *user) *cluster.Stream {
			u.script(modeltest.Say("one ").Stall(1), modeltest.Say("one again"))
			s := u.invoke(u.Gateways[0])
			s.Until("text")
			return s
		})
		short := w.on(t, leaving, "short", func(u *user) *cluster.Stream {
			u.script(each("click", 1, 2), modeltest.Say("done"))
			return u.invoke(u.Gateways[1])
		})
		first := short.hold()
		long := w.on(t, leaving, "long", func(u *user) *cluster.Stream {
			u.script(each("click", 1, 2), modeltest.Say("done"))
			return u.invoke(u.Gateways[1])
		})
		never := long.hold()

		stopped := make(chan struct{})
		go func() {
			defer close(stopped)
			leaving.Stop(t)
		}()
		text.ends(text.stream, "stop") // while the others still drain
		text.wantSaid(text.stream, "one again")
		short.answer(first)
		short.serve()
		short.ends(short.stream, "stop")
		short.wantResults(short.stream, map[string]string{"call_0": "1", "call_1": "2"})
		short.ledger.Once(t, 1, 2)
		second := long.node.Call() // of the other one, once nobody waits for the first any more
		if second.Method == "notifications/cancelled" {
			second = long.node.Call()
		}
		long.ledger.See(second)
		long.answer(second)
		long.answer(never)
		long.ends(long.stream, "stop")
		long.wantResults(long.stream, map[string]string{"call_0": "unknown", "call_1": "2"})
		long.ledger.Once(t, 1, 2)
		<-stopped
	})
}
