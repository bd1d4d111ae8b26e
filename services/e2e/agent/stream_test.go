package agent_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/model/modeltest"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// waitFor is how long something may take that should come at once.
const waitFor = 20 * time.Second

// follow opens a session's events with a header.
func (p *person) follow(gateway int, session, query string, header ...string) *cluster.Stream {
	p.Helper()
	h := http.Header{"X-User-Id": {p.name}}
	for i := 0; i < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return p.w.Gateways[gateway].Stream(p, http.MethodGet, sessionsPath+"/"+session+"/events"+query, nil, h)
}

func TestStreams(t *testing.T) {
	t.Parallel()
	onEachStorage(t, map[string]func(*testing.T, *fixture){
		"are picked up where they were lost, on any pod": func(t *testing.T, w *fixture) {
			p := w.person(t)
			gate := make(chan struct{})
			p.model(modeltest.Say("a").Wait(gate).Then(modeltest.Say("b")).Wait(gate).Then(modeltest.Say("c")))
			run := p.invoke(0, "Hello.")
			run.Expect("text")
			run.Leave()
			by := map[string]*cluster.Stream{
				"after_seq":                  p.follow(1, run.Session, "?after_seq=1"),
				"Last-Event-ID":              p.follow(0, run.Session, "", "Last-Event-ID", "1"),
				"after_seq before the other": p.follow(0, run.Session, "?after_seq=1", "Last-Event-ID", "0"),
				"from the beginning":         p.follow(1, run.Session, ""),
			}
			gate <- struct{}{}
			for name, s := range by {
				if name == "from the beginning" {
					s.Expect("text")
				}
				if e := s.Expect("text"); e.Content != "b" || e.Seq != 2 {
					t.Errorf("%s: %s", name, e.Data)
				}
			}
			close(gate)
			for name, s := range by {
				if e := s.Until("complete"); e.Content != "abc" {
					t.Errorf("%s: %s", name, e.Data)
				}
			}
		},
		"follow the runs that come": func(t *testing.T, w *fixture) {
			p := w.person(t)
			p.model(modeltest.Say("one"), modeltest.Say("two"))
			run := p.invoke(0, "Hello.")
			run.Complete("stop")
			s := p.follow(1, run.Session, fmt.Sprintf("?after_seq=%d", run.Seq))
			p.invoke(0, "Again.", object{"session_id": run.Session}).Complete("stop")
			if e := s.Expect("text"); e.Content != "two" {
				t.Error(e.Data)
			}
			s.Until("complete")
		},
		"end at the last event where that is asked for": func(t *testing.T, w *fixture) {
			p := w.person(t)
			p.model(modeltest.Say("a").Stall(1))
			run := p.invoke(0, "Hello.")
			run.Expect("text")
			if all := p.follow(1, run.Session, "?follow=false").All(); len(all) != 1 || all[0].Content != "a" {
				t.Errorf("kept: %v", all)
			}
			if all := p.follow(0, run.Session, "?follow=false&after_seq=99").All(); len(all) != 0 {
				t.Errorf("kept: %v", all)
			}
			for _, bad := range []string{"?after_seq=x", "?after_seq=-1", "?follow=maybe", "?dialect=klingon"} {
				if r := p.get(0, sessionsPath+"/"+run.Session+"/events"+bad); r.Status != 400 {
					t.Errorf("%s: %d %s", bad, r.Status, r.Raw)
				}
			}
			p.post(0, sessionsPath+"/"+run.Session+"/cancel", nil)
		},
		"that are left let the run go on": func(t *testing.T, w *fixture) {
			for name, body := range map[string]object{"by default": {}, "as asked": {"on_disconnect": "continue"}} {
				p := w.person(t)
				gate := make(chan struct{})
				p.node(1, "chrome", "click")
				p.model(modeltest.Say("Wait.").Wait(gate).Then(clicks(1)), modeltest.Say("Done."))
				run := p.invoke(0, "Click.", body)
				run.Expect("text")
				run.Leave()
				close(gate)
				if e := p.follow(1, run.Session, "").Until("complete"); e.FinishReason != "stop" {
					t.Errorf("%s: %s", name, e.Data)
				}
				p.ledger.Once(t, 1)
			}
		},
		"that are left take the run with them where that is asked for": func(t *testing.T, w *fixture) {
			p := w.person(t)
			node := p.bare(1, "chrome", "click")
			p.model(clicks(1))
			run := p.invoke(0, "Click.", object{"on_disconnect": "cancel"})
			run.Until("token_usage")
			call := node.Call()
			run.Leave()
			if c := node.Call(); c.Method != "notifications/cancelled" || c.Params.RequestID != call.ID {
				t.Error(c.Frame)
			}
			if e := p.follow(1, run.Session, "").Until("complete"); e.FinishReason != "cancelled" {
				t.Error(e.Data)
			}
		},
		"of a resume are left as well": func(t *testing.T, w *fixture) {
			p := w.person(t)
			node := p.bare(1, "chrome", "click")
			p.model(clicks(1))
			run := p.invoke(0, "Click.", asks("click"))
			p.waiting(run)
			again := p.resume(0, run.Session, results(decision("call_1", "approved")), object{"on_disconnect": "cancel"})
			node.Call()
			again.Leave()
			if c := node.Call(); c.Method != "notifications/cancelled" {
				t.Error(c.Frame)
			}
			s := p.follow(1, run.Session, fmt.Sprintf("?after_seq=%d", run.Seq))
			if e := s.Until("complete"); e.FinishReason != "cancelled" {
				t.Error(e.Data)
			}
		},
		"that a proxy asked for twice start one run": func(t *testing.T, w *fixture) {
			p := w.person(t)
			p.model(modeltest.Say("Hello."))
			header := http.Header{"X-User-Id": {p.name}, "Idempotency-Key": {"mine-1"}}
			body := p.body(object{"message": "Hello."})
			first := w.Gateways[0].Stream(t, http.MethodPost, "/api/agent/invoke", body, header)
			first.Complete("stop")
			second := w.Gateways[1].Stream(t, http.MethodPost, "/api/agent/invoke", body, header)
			second.Complete("stop")
			if first.Raw() != second.Raw() {
				t.Errorf("heard\n%s\nand\n%s", first.Raw(), second.Raw())
			}
		},
	})
}

func TestTextStreamsTokenByToken(t *testing.T) {
	t.Parallel()
	w := newFixture(t, cluster.Options{})
	p := w.person(t)
	gate := make(chan struct{})
	answer := modeltest.Say()
	words := strings.SplitAfter("each of these words is heard before the next one is said", " ")
	for _, word := range words {
		answer = answer.Then(modeltest.Say(word)).Wait(gate)
	}
	p.model(answer)
	run := p.invoke(1, "Speak.")
	for _, word := range words {
		if e := run.Expect("text"); e.Content != word {
			t.Errorf("got %s, want %q", e.Data, word)
		}
		gate <- struct{}{}
	}
	run.Complete("stop")
	testkit.Eventually(t, waitFor, func() bool { return len(p.asked()) == 1 }, "one answer was asked for")
}
