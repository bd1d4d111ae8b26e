package agentfaults_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/modeltest"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// Two resumes of one interrupt at once, each on an orchestrator of its own: one streams the run, the other is told that
// this was decided, and the tool runs once, 20 times over.
func TestTwoResumesRace(t *testing.T) {
	t.Parallel()
	cluster.EachStorage(t, func(t *testing.T, database string) {
		w := newWorld(t, cluster.Options{Paired: true, Database: database})
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

// post returns the whole answer, status first.
func post(t *testing.T, g *cluster.Gateway, path, user, body string) string {
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+g.HTTP+path, bytes.NewReader([]byte(body)))
	if err != nil {
		return err.Error()
	}
	req.Header.Set("X-User-Id", user)
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	return fmt.Sprint(resp.StatusCode, " ", string(raw), " ", err)
}
