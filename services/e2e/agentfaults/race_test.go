package agentfaults_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/model/modeltest"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// Two resumes of one interrupt at once, each on an orchestrator of its own: one streams the run, the other is refused as
// already decided, and the tool runs once. 20 times over.
func TestTwoResumesRace(t *testing.T) {
	t.Parallel()
	cluster.EachStorage(t, func(t *testing.T, database string) {
		w := newFixture(t, cluster.Options{Paired: true, Database: database})
		u := w.join(t, "ana")
		u.serve()
		u.model.Otherwise(modeltest.Func(func(r modeltest.Request) modeltest.Answer {
			if m, answered := r.Last("tool"); answered {
				return modeltest.Say("done " + m.Content)
			}
			m, _ := r.Last("user")
			return modeltest.Call("pay", m.Content)
		}))
		var numbers []int
		won := [2]int{}
		for n := range 20 {
			numbers = append(numbers, n+1)
			s := w.Gateways[n%2].Invoke(t, u.name, u.body(map[string]any{"message": fmt.Sprintf(`{"n":%d}`, n+1)}))
			calls := u.interrupted(s)
			body := marshal(t, u.decision(s.Session, "approved", calls))
			var answers [2]string
			var both sync.WaitGroup
			start := make(chan struct{})
			for i, g := range w.Gateways {
				both.Go(func() {
					<-start
					answers[i] = post(t, g, "/api/agent/resume", u.name, body)
				})
			}
			close(start)
			both.Wait()
			for i := range answers {
				if strings.HasPrefix(answers[i], "200 ") {
					won[i]++
					loser := answers[1-i]
					if !strings.Contains(answers[i], fmt.Sprintf(`"content":"done %d"`, n+1)) {
						t.Errorf("the winner heard %s", answers[i])
					}
					if !strings.HasPrefix(loser, "409 ") || !strings.Contains(loser, `"reason":"ALREADY_DECIDED"`) {
						t.Errorf("beside the winner, the other heard %s", loser)
					}
				}
			}
		}
		if won[0]+won[1] != 20 {
			t.Errorf("%v resumes won", won)
		}
		u.ledger.Once(t, numbers...)
	})
}

// A yes, a no and a cancel of one interrupt at once, from both gateways: what happens is what one of them asked for.
func TestDecisionsAndCancelsRace(t *testing.T) {
	t.Parallel()
	cluster.EachStorage(t, func(t *testing.T, database string) {
		w := newFixture(t, cluster.Options{Paired: true, Database: database})
		outcomes := map[string]int{}
		for n := range 20 {
			u := w.join(t, fmt.Sprint("user", n), each("pay", 1), modeltest.Say("done"))
			u.serve()
			s := u.invoke(w.Gateways[n%2])
			calls := u.interrupted(s)
			yes := marshal(t, u.decision(s.Session, "approved", calls))
			no := marshal(t, u.decision(s.Session, "rejected", calls))
			var heard [3]string
			var all sync.WaitGroup
			start := make(chan struct{})
			for i, ask := range []func() string{
				func() string { return post(t, w.Gateways[0], "/api/agent/resume", u.name, yes) },
				func() string { return post(t, w.Gateways[1], "/api/agent/resume", u.name, no) },
				func() string { return post(t, w.Gateways[n%2], "/api/agent/sessions/"+s.Session+"/cancel", u.name, "") },
			} {
				all.Go(func() {
					<-start
					heard[i] = ask()
				})
			}
			close(start)
			all.Wait()
			outcome := ""
			for i, what := range []string{"yes", "no"} {
				switch {
				case strings.HasPrefix(heard[i], "200 ") && outcome == "":
					outcome = what
				case !strings.HasPrefix(heard[i], "409 "):
					t.Errorf("%s, after %q: %s", what, outcome, heard[i])
				}
			}
			if !strings.HasPrefix(heard[2], "200 ") || outcome == "" && !strings.Contains(heard[2], `"cancelled":true`) {
				t.Errorf("after %q the cancel heard %s", outcome, heard[2])
			}
			outcomes[outcome]++
			if ran := u.ledger.Seen(1); ran > 1 || ran > 0 && outcome != "yes" {
				t.Errorf("after %q the tool ran %d times", outcome, ran)
			}
			// Whatever it was, all of it is there, and the conversation goes on.
			u.model.Otherwise(modeltest.Say("on"))
			next := w.Gateways[1].Invoke(t, u.name, u.body(map[string]any{"message": "On.", "session_id": s.Session}))
			u.ends(next, "stop")
			whole := w.Gateways[0].Events(t, u.name, s.Session, 0)
			for whole.Next().RunID != next.Run {
			}
			whole.Leave()
			last := u.asked()[len(u.asked())-1]
			if m, ok := last.Last("tool"); !ok || m.CallID != calls[0].ID {
				t.Errorf("the model does not know what became of the call: %s", last.Body)
			}
		}
		t.Logf("what won: %v (\"\" is the cancel)", outcomes)
	})
}

// The same request at both gateways at once is one run, and both clients get all of its events.
func TestOneRequestAtTwoGateways(t *testing.T) {
	t.Parallel()
	cluster.EachStorage(t, func(t *testing.T, database string) {
		w := newFixture(t, cluster.Options{Paired: true, Database: database})
		for n := range 10 {
			u := w.join(t, fmt.Sprint("user", n), click(1), modeltest.Say("done"))
			u.serve()
			body := u.body(map[string]any{"message": "Go."})
			streams := make(chan *cluster.Stream, 2)
			for _, g := range w.Gateways {
				go func() {
					streams <- g.Stream(t, http.MethodPost, "/api/agent/invoke", body, http.Header{"X-User-Id": {u.name}, "Idempotency-Key": {"mine"}})
				}()
			}
			one, two := <-streams, <-streams
			u.ends(one, "stop")
			u.ends(two, "stop")
			if one.Run != two.Run || len(one.Heard) != len(two.Heard) {
				t.Errorf("one heard\n%s\nthe other\n%s", one.Raw(), two.Raw())
			}
			u.ledger.Once(t, 1)
		}
	})
}

// post returns the whole answer, status first.
func post(t *testing.T, g *cluster.Gateway, path, user, body string) string {
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+g.HTTP+path, bytes.NewReader([]byte(body)))
	if err != nil {
		return err.Error()
	}
	req.Header.Set("X-User-Id", user)
	req.Header.Set("Content-Type", "application/json")
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	return fmt.Sprint(resp.StatusCode, " ", string(raw), " ", err)
}
