package rolling_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/process/sleep"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// runs are clients that run agents one after the other, each with a user and a node of its own. Each run calls its node once.
type runs struct {
	t      *testing.T
	lb     *balancer
	ledger cluster.Ledger // of the nodes
	next   atomic.Int64
	quit   chan struct{}
	work   sync.WaitGroup

	mu      sync.Mutex
	started []int // the numbers of those that ended as they should
	refused int   // requests that were, with 503
	resumed int   // streams that were picked up again
}

func startRuns(t *testing.T, lb *balancer, clients int) *runs {
	t.Helper()
	r := &runs{t: t, lb: lb, quit: make(chan struct{})}
	for i := range clients {
		user := fmt.Sprintf("runner%d", i)
		lb.gateway().RunEverything(t, user)
		roam(t, lb, user, "chrome", func(c cluster.ToolCall) string {
			if cluster.Number(c)%3 == 0 { // so that streams and calls are there when pods go
				testkit.Pass(time.Second)
			}
			return r.ledger.See(c)
		})
		testkit.Eventually(t, patience, func() bool {
			return strings.Contains(lb.gateway().Get(t, "/api/node/devices", user).Raw, `"click"`)
		}, "the node of %s has registered", user)
		r.work.Go(func() {
			for {
				select {
				case <-r.quit:
					return
				default:
					r.run(user)
				}
			}
		})
	}
	return r
}

// run is one run, from its message to its end, over as many streams as it takes.
func (r *runs) run(user string) {
	n := int(r.next.Add(1))
	s := &runStream{runs: r, user: user}
	method, path, body := http.MethodPost, "/api/agent/invoke", fmt.Sprintf(`{"message":"call click {\"n\":%d}"}`, n)
	for streams := 0; s.finish == ""; {
		switch code, err := s.read(method, path, body); {
		case err != nil:
			r.t.Errorf("run %d: %s: %v", n, path, err)
			return
		case code == http.StatusServiceUnavailable: // and nothing was begun
			r.mu.Lock()
			r.refused++
			r.mu.Unlock()
			sleep.For(r.t.Context(), 20*time.Millisecond)
			continue
		case code != http.StatusOK || s.session == "":
			r.t.Errorf("run %d: %s: %d", n, path, code)
			return
		}
		if streams++; streams > 1 {
			r.mu.Lock()
			r.resumed++
			r.mu.Unlock()
		}
		method, path, body = http.MethodGet, "/api/agent/sessions/"+s.session+"/events", ""
	}
	if s.finish != "stop" || s.result != fmt.Sprint(n) {
		r.t.Errorf("run %d ends with %s, its call with %q", n, s.finish, s.result)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.started = append(r.started, n)
}

// ended is how many runs have come to an end.
func (r *runs) ended() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.started)
}

// stop waits for the runs in progress, and compares both ends.
func (r *runs) stop() {
	close(r.quit)
	r.work.Wait()
	r.t.Logf("%d runs ended; %d requests were refused, %d streams picked up again", len(r.started), r.refused, r.resumed)
	r.ledger.Once(r.t, r.started...)
}

// runStream is what a client hears of one run.
type runStream struct {
	*runs
	user, session, finish, result string
	last                          int64
}

var streams = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// read follows one stream to its end.
func (s *runStream) read(method, path, body string) (code int, err error) {
	req, err := http.NewRequest(method, "http://"+s.lb.host+path, strings.NewReader(body)) //nolint:noctx // it ends with its pod
	if err != nil {
		return 0, err
	}
	req.Header.Set("X-User-Id", s.user)
	req.Header.Set("Content-Type", "application/json")
	if s.last > 0 {
		req.Header.Set("Last-Event-Id", fmt.Sprint(s.last))
	}
	resp, err := streams.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return resp.StatusCode, nil
	}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	for s.finish == "" && lines.Scan() {
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			if err := s.hear(data); err != nil {
				return 0, err
			}
		}
	}
	return resp.StatusCode, lines.Err()
}

func (s *runStream) hear(data string) error {
	var e cluster.Event
	if err := json.Unmarshal([]byte(data), &struct {
		*cluster.Event
		Content json.RawMessage `json:"content"` // a list where it is a result's
	}{Event: &e}); err != nil {
		return fmt.Errorf("%w: %s", err, data)
	}
	if e.Seq != s.last+1 {
		return fmt.Errorf("event %d comes after %d: %s", e.Seq, s.last, data)
	}
	s.last, s.session = e.Seq, e.SessionID
	switch e.Type {
	case "tool_call_result":
		s.result += e.Result + e.Outcome
	case "complete":
		s.finish = e.FinishReason
	case "error":
		return fmt.Errorf("an error: %s", data)
	}
	return nil
}
