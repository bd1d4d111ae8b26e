package agent_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/model/modeltest"
)

// TestAnotherUsersSessionLooksAbsent asks for everything that a session has, as another user and for a session that
// never was: but for its name, the answers are the same, byte by byte.
func TestAnotherUsersSessionLooksAbsent(t *testing.T) {
	t.Parallel()
	onEachStorage(t, map[string]func(*testing.T, *fixture){
		"that waits": func(t *testing.T, w *fixture) {
			p, other := w.person(t), w.person(t)
			p.node(0, "chrome", "click")
			p.model(clicks(1), modeltest.Say("Done."))
			run := p.invoke(0, "Click.", asks("click"))
			p.waiting(run)
			other.seesNothingOf(run.Session)
			p.ledger.Once(t)
			p.resume(1, run.Session, results(decision("call_1", "approved"))).Complete("stop")
		},
		"that runs": func(t *testing.T, w *fixture) {
			p, other := w.person(t), w.person(t)
			gate := make(chan struct{})
			p.model(modeltest.Say("Wait.").Wait(gate))
			run := p.invoke(0, "Hello.")
			run.Expect("text")
			other.seesNothingOf(run.Session)
			close(gate)
			run.Complete("stop")
		},
		"that is over, and the same name is free for others": func(t *testing.T, w *fixture) {
			p, other := w.person(t), w.person(t)
			p.model(modeltest.Say("Mine."))
			other.model(modeltest.Say("Other."))
			run := p.invoke(0, "Hello.")
			run.Complete("stop")
			other.seesNothingOf(run.Session)
			own := other.invoke(1, "Hello.", object{"session_id": run.Session})
			if e := own.Expect("text"); e.Seq != 1 || e.Content != "Other." {
				t.Error(e.Data)
			}
			own.Complete("stop")
			if status := other.delete(0, sessionsPath+"/"+run.Session); status != 200 {
				t.Errorf("a user's own session of that name is not deleted: %d", status)
			}
			if r := p.get(1, sessionsPath+"/"+run.Session); r.Body["title"] != "Hello." {
				t.Error(r.Raw)
			}
		},
	})
}

func (p *person) seesNothingOf(session string) {
	p.Helper()
	const none = "session_000000000000"
	for _, request := range []struct{ method, path, body string }{
		{"GET", sessionsPath + "/ID", ""},
		{"GET", sessionsPath + "/ID/messages", ""},
		{"GET", sessionsPath + "/ID/events", ""},
		{"GET", sessionsPath + "/ID/events?follow=false&after_seq=1", ""},
		{"POST", sessionsPath + "/ID/cancel", ""},
		{"DELETE", sessionsPath + "/ID", ""},
		{"POST", "/api/agent/resume", `{"session_id":"ID","tool_call_results":[]}`},
		{"POST", "/api/agent/resume", `{"session_id":"ID","tool_call_results":[{"tool_call_id":"call_1","tool_name":"click","decision":"approved"}]}`},
		{"POST", "/api/agent/resume", `{"session_id":"ID","node_id":"chrome","llm_config":{"apiKey":"` + p.name + `"}}`},
	} {
		for i, g := range p.w.Gateways {
			ask := func(id string) (int, string, http.Header) {
				fill := strings.NewReplacer("ID", id)
				req, err := http.NewRequestWithContext(p.Context(), request.method, "http://"+g.HTTP+fill.Replace(request.path), strings.NewReader(fill.Replace(request.body)))
				if err != nil {
					p.Fatal(err)
				}
				req.Header.Set("X-User-Id", p.name)
				req.Header.Set("Content-Type", "application/json")
				status, body, header := fetch(p.T, req)
				header.Del("Date")
				return status, strings.ReplaceAll(body, id, "ID"), header
			}
			status, body, header := ask(session)
			wantStatus, want, wantHeader := ask(none)
			if status != wantStatus || status != http.StatusNotFound || body != want {
				p.Errorf("%s %s on gateway %d: %d %s; of none %d %s", request.method, request.path, i, status, body, wantStatus, want)
			}
			for name := range wantHeader {
				if header.Get(name) != wantHeader.Get(name) && name != "Content-Length" {
					p.Errorf("%s %s: %s is %q, of none %q", request.method, request.path, name, header.Get(name), wantHeader.Get(name))
				}
			}
			if len(header) != len(wantHeader) {
				p.Errorf("%s %s: header %v, of none %v", request.method, request.path, header, wantHeader)
			}
		}
	}
	if r := p.get(0, sessionsPath); strings.Contains(r.Raw, session) {
		p.Errorf("it is listed: %s", r.Raw)
	}
}
