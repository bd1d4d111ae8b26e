package agent_test

import (
	"net/http"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/model/modeltest"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
)

const sessionsPath = "/api/agent/sessions"

// delete sends a DELETE.
func (p *person) delete(gateway int, path string) int {
	p.Helper()
	return p.w.Gateways[gateway].Do(p, http.MethodDelete, path, p.name, "", nil).Status
}

// titles are those of a page of sessions, and the cursor of the next.
func (p *person) titles(gateway int, query string) (titles []string, next string) {
	p.Helper()
	r := p.get(gateway, sessionsPath+query)
	for _, s := range r.Body["sessions"].([]any) {
		titles = append(titles, s.(object)["title"].(string))
	}
	return titles, r.Body["next_cursor"].(string)
}

func TestSessions(t *testing.T) {
	t.Parallel()
	onEachStorage(t, map[string]func(*testing.T, *fixture){
		"are listed page by page, the last changed first": func(t *testing.T, w *fixture) {
			p := w.person(t)
			p.model(modeltest.Repeat(4, modeltest.Say("Hello."))...)
			first := p.invoke(0, "one")
			first.Complete("stop")
			for i, message := range []string{"two", "three"} {
				p.invoke(i, message).Complete("stop")
			}
			p.invoke(1, "one again", object{"session_id": first.Session}).Complete("stop")
			titles, next := p.titles(0, "?limit=2")
			if len(titles) != 2 || titles[0] != "one" || titles[1] != "three" || next == "" {
				t.Errorf("first page: %v, %q", titles, next)
			}
			titles, next = p.titles(1, "?limit=2&cursor="+next)
			if len(titles) != 1 || titles[0] != "two" || next != "" {
				t.Errorf("second page: %v, %q", titles, next)
			}
			for _, bad := range []string{"?limit=-1", "?limit=201", "?limit=x", "?cursor=x"} {
				if r := p.get(0, sessionsPath+bad); r.Status != 400 {
					t.Errorf("%s: %d %s", bad, r.Status, r.Raw)
				}
			}
		},
		"go on with what was said": func(t *testing.T, w *fixture) {
			p := w.person(t)
			p.model(modeltest.Say("Hello Ana."), modeltest.Say("Ana."))
			run := p.invoke(0, "I am Ana.")
			run.Complete("stop")
			again := p.invoke(1, "Who am I?", object{"session_id": run.Session, "chat_history": []object{{"role": "user", "content": "I am Bob."}}})
			if e := again.Expect("text"); e.Seq != run.Seq+1 {
				t.Errorf("the second run begins with event %d", e.Seq)
			}
			again.Complete("stop")
			var said []string
			for _, m := range p.asked()[1].Messages[1:] {
				said = append(said, m.Content)
			}
			if len(said) != 3 || said[0] != "I am Ana." || said[1] != "Hello Ana." || said[2] != "Who am I?" {
				t.Errorf("the model was told %q", said)
			}
			r := p.get(0, sessionsPath+"/"+run.Session+"/messages?after=1&limit=2")
			if list := r.Body["messages"].([]any); len(list) != 2 || list[0].(object)["index"] != 2.0 {
				t.Error(r.Raw)
			}
		},
		"that are new begin with the client's history, of which thirty messages count": func(t *testing.T, w *fixture) {
			p := w.person(t)
			p.model(modeltest.Say("Yes."))
			var history []object
			for range 20 {
				history = append(history, object{"role": "user", "content": "ping"}, object{"role": "assistant", "content": "pong"})
			}
			p.invoke(0, "Still there?", object{"chat_history": history}).Complete("stop")
			if n := len(p.asked()[0].Messages); n != 1+30+1 {
				t.Errorf("the model was told %d messages", n)
			}
		},
		"are cancelled while the model speaks, and keep what it said": func(t *testing.T, w *fixture) {
			p := w.person(t)
			p.model(modeltest.Say("Once upon a time").Stall(1), modeltest.Say("Yes."))
			run := p.invoke(0, "Tell me a story.")
			run.Expect("text")
			if r := p.post(1, sessionsPath+"/"+run.Session+"/cancel", nil); r.Status != 200 || r.Body["cancelled"] != true {
				t.Error(r.Raw)
			}
			run.Complete("cancelled")
			if r := p.post(0, sessionsPath+"/"+run.Session+"/cancel", nil); r.Status != 200 || r.Body["cancelled"] != false {
				t.Error(r.Raw)
			}
			p.invoke(1, "Go on.", object{"session_id": run.Session}).Complete("stop")
			p.says(string(p.asked()[1].Body), "Once upon a time")
		},
		"are cancelled while a tool runs, and its node hears of it": func(t *testing.T, w *fixture) {
			p := w.person(t)
			node := p.bare(0, "chrome", "click")
			p.model(clicks(1, 2))
			run := p.invoke(0, "Click.")
			run.Until("token_usage")
			call := node.Call()
			p.post(1, sessionsPath+"/"+run.Session+"/cancel", nil)
			if c := node.Call(); c.Method != "notifications/cancelled" || c.Params.RequestID != call.ID {
				t.Error(c.Frame)
			}
			run.Complete("cancelled")
			node.Silent() // nor does the second one run
		},
		"are cancelled while they wait": func(t *testing.T, w *fixture) {
			p := w.person(t)
			node := p.bare(0, "chrome", "click")
			p.model(clicks(1), modeltest.Say("Yes."))
			run := p.invoke(0, "Click.", asks("click"))
			p.waiting(run)
			p.post(1, sessionsPath+"/"+run.Session+"/cancel", nil)
			if r := p.get(0, sessionsPath+"/"+run.Session); r.Body["status"] != "idle" || r.Body["finish_reason"] != "cancelled" || r.Body["interrupt"] != nil {
				t.Error(r.Raw)
			}
			p.refused(p.tryResume(0, run.Session, results(decision("call_1", "approved"))), 409, "ALREADY_DECIDED")
			p.invoke(1, "Go on.", object{"session_id": run.Session}).Complete("stop")
			node.Silent()
		},
		"are deleted with all that was kept, and their streams end": func(t *testing.T, w *fixture) {
			p := w.person(t)
			p.model(modeltest.Say("Hello.").Stall(1), modeltest.Say("New."))
			run := p.invoke(0, "Hello.")
			run.Expect("text")
			follower := w.Gateways[1].Events(t, p.name, run.Session, 0)
			follower.Expect("text")
			if status := p.delete(1, sessionsPath+"/"+run.Session); status != 200 {
				t.Errorf("DELETE is answered with %d", status)
			}
			run.Complete("cancelled")
			follower.Complete("cancelled")
			for g := range 2 {
				for _, path := range []string{"", "/messages", "/events"} {
					p.refused(p.get(g, sessionsPath+"/"+run.Session+path), 404, "SESSION_NOT_FOUND")
				}
				p.refused(p.post(g, sessionsPath+"/"+run.Session+"/cancel", nil), 404, "SESSION_NOT_FOUND")
				if status := p.delete(g, sessionsPath+"/"+run.Session); status != 404 {
					t.Errorf("a second DELETE is answered with %d", status)
				}
			}
			if titles, _ := p.titles(0, ""); len(titles) != 0 {
				t.Error(titles)
			}
			again := p.invoke(1, "Hello.", object{"session_id": run.Session})
			if e := again.Expect("text"); e.Seq != 1 {
				t.Errorf("a session of that name begins with event %d", e.Seq)
			}
			again.Complete("stop")
		},
		"have one run at a time, on all pods": func(t *testing.T, w *fixture) {
			p := w.person(t)
			gate := make(chan struct{})
			p.model(modeltest.Say("Wait.").Wait(gate))
			run := p.invoke(0, "Hello.")
			run.Expect("text")
			for g := range 2 {
				p.refused(p.post(g, "/api/agent/invoke", p.body(object{"message": "me too", "session_id": run.Session})), 409, "RUN_ACTIVE")
			}
			close(gate)
			run.Complete("stop")
			testkit.Eventually(t, waitFor, func() bool {
				return p.get(1, sessionsPath+"/"+run.Session).Body["status"] == "idle"
			}, "the session is idle")
		},
		"that wait take no message": func(t *testing.T, w *fixture) {
			p := w.person(t)
			p.node(0, "chrome", "click")
			p.model(clicks(1))
			run := p.invoke(0, "Click.", asks("click"))
			p.waiting(run)
			for g := range 2 {
				p.refused(p.post(g, "/api/agent/invoke", p.body(object{"message": "hello?", "session_id": run.Session})), 409, "INTERRUPTED")
			}
		},
	})
}
