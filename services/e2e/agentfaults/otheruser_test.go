package agentfaults_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/model/modeltest"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// Whatever bob requests of a session of ana's, the answer is the same, byte for byte, as for a session that does not exist,
// on both gateways; and the session does not change.
func TestAnotherUsersSessionLooksAbsentOnAllGateways(t *testing.T) {
	t.Parallel()
	cluster.EachStorage(t, func(t *testing.T, database string) {
		w := newFixture(t, cluster.Options{Database: database})
		gate := make(chan struct{})
		waits := w.join(t, "ana", each("pay", 1), modeltest.Say("done"))
		waiting := waits.invoke(w.Gateways[0])
		calls := waits.interrupted(waiting)
		runs := w.join(t, "anna", modeltest.Say("one ").Wait(gate).Then(modeltest.Say("two")))
		running := runs.invoke(w.Gateways[1])
		running.Until("text")
		bob := w.join(t, "bob")

		for _, theirs := range []*cluster.Stream{waiting, running} {
			for _, g := range w.Gateways {
				for _, ask := range []struct{ method, path, body string }{
					{"GET", "/api/agent/sessions/$id", ""},
					{"GET", "/api/agent/sessions/$id/messages", ""},
					{"GET", "/api/agent/sessions/$id/events", ""},
					{"GET", "/api/agent/sessions/$id/events?follow=false", ""},
					{"GET", "/api/agent/sessions/$id/events?after_seq=1", ""},
					{"HEAD", "/api/agent/sessions/$id/events", ""},
					{"POST", "/api/agent/sessions/$id/cancel", ""},
					{"DELETE", "/api/agent/sessions/$id", ""},
					{"POST", "/api/agent/resume", marshal(t, bob.decision("$id", "approved", calls))},
					{"POST", "/api/agent/resume", marshal(t, bob.decision("$id", "rejected", nil))},
					{"POST", "/api/agent/resume", `{"session_id":"$id","node_id":"chrome"}`},
				} {
					absent := "session_0123456789ab"
					heard := whole(t, g, ask.method, ask.path, ask.body, bob.name, theirs.Session)
					want := whole(t, g, ask.method, ask.path, ask.body, bob.name, absent)
					if got := strings.ReplaceAll(heard, theirs.Session, absent); got != want || !strings.HasPrefix(got, "404 ") {
						t.Errorf("%s %s of another's\n%s\nof none\n%s", ask.method, ask.path, got, want)
					}
				}
			}
		}
		if got := bob.sessions(); len(got) != 0 {
			t.Errorf("bob has sessions %v", got)
		}

		// A session of bob's may have the same id: it is another one.
		bob.script(modeltest.Say("mine"))
		own := w.Gateways[0].Invoke(t, bob.name, bob.body(map[string]any{"message": "Go.", "session_id": running.Session}))
		bob.ends(own, "stop")
		bob.wantSaid(own, "mine")

		close(gate)
		runs.ends(running, "stop")
		runs.wantSaid(running, "one two")
		waits.serve()
		yes := w.Gateways[1].Resume(t, waits.name, waits.decision(waiting.Session, "approved", calls))
		waits.ends(yes, "stop")
		waits.ledger.Once(t, 1)
	})
}

// whole is an answer with its status and headers, but for its date and the request's own ids.
func whole(t *testing.T, g *cluster.Gateway, method, path, body, user, session string) string {
	t.Helper()
	fill := strings.NewReplacer("$id", session)
	req, err := http.NewRequestWithContext(t.Context(), method, "http://"+g.HTTP+fill.Replace(path), strings.NewReader(fill.Replace(body)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-User-Id", user)
	req.Header.Set("Content-Type", "application/json")
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var b strings.Builder
	b.WriteString(resp.Status + "\n")
	resp.Header.Del("Date")
	for _, varies := range []string{"Content-Length", "X-Request-Id", "Traceparent"} { // the length follows the id's
		resp.Header.Del(varies)
	}
	_ = resp.Header.Write(&b) // to memory
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return b.String() + string(raw)
}
