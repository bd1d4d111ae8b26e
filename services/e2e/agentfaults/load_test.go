package agentfaults_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/model/modeltest"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// load are clients that run agents one after the other. Each run has a number, and two calls with numbers made of it.
type load struct {
	*fixture
	users []*user
	next  atomic.Int64
	quit  chan struct{}
	work  sync.WaitGroup

	mu   sync.Mutex
	runs map[int]string // what the clients heard
}

// newLoad starts clients.
func (w *fixture) newLoad(t *testing.T, clients int) *load {
	t.Helper()
	w.model.Otherwise(modeltest.Func(func(r modeltest.Request) modeltest.Answer {
		task, _ := r.Last("user")
		done := 0
		for _, m := range r.Messages {
			if m.Role == "tool" {
				done++
			}
		}
		if done == 2 {
			return modeltest.Say("done ", task.Content)
		}
		return modeltest.Say("Now ", task.Content, ". ").Then(modeltest.Call("click", fmt.Sprintf(`{"n":%s%d}`, task.Content, done+1)))
	}))
	l := &load{fixture: w, quit: make(chan struct{}), runs: map[int]string{}}
	for i := range 4 {
		u := w.join(t, fmt.Sprint("user", i))
		u.node.Serve(func(c cluster.ToolCall) string {
			testkit.Pass(5 * time.Millisecond)
			return u.ledger.See(c)
		})
		l.users = append(l.users, u)
	}
	for range clients {
		l.work.Go(func() {
			for {
				select {
				case <-l.quit:
					return
				default:
					l.run(t)
				}
			}
		})
	}
	return l
}

func (l *load) run(t *testing.T) {
	n := int(l.next.Add(1))
	u := l.users[n%len(l.users)]
	body, err := json.Marshal(u.body(map[string]any{"message": fmt.Sprint(n)}))
	if err != nil {
		t.Error(err)
		return
	}
	heard := post(t, l.Gateways[n%2], "/api/agent/invoke", u.name, string(body))
	l.mu.Lock()
	defer l.mu.Unlock()
	l.runs[n] = heard
}

// ended is how many runs have come to an end.
func (l *load) ended() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.runs)
}

// more waits for runs to end.
func (l *load) more(t *testing.T, runs int) {
	t.Helper()
	before := l.ended()
	soon(t, func() bool { return l.ended() >= before+runs }, "%d more runs end", runs)
}

// stop waits for all runs, and compares what the clients heard with what the nodes saw. It returns how many calls ended
// with which outcome, "" for an answer.
func (l *load) stop(t *testing.T) map[string]int {
	t.Helper()
	close(l.quit)
	l.work.Wait()
	outcomes := map[string]int{}
	for n, heard := range l.runs {
		ledger := l.users[n%len(l.users)].ledger
		last, calls := cluster.Event{}, 0
		if !strings.HasPrefix(heard, "200 ") {
			t.Errorf("run %d: %.500s", n, heard)
		}
		for i, data := range events(heard) {
			var e cluster.Event
			if err := json.Unmarshal([]byte(data), &e); err != nil || e.Seq != int64(i+1) || last.Type == "complete" {
				t.Errorf("run %d: at %d stands %s: %v", n, i+1, data, err)
			}
			if last = e; e.Type != "tool_call_result" {
				continue
			}
			calls++
			outcomes[e.Outcome]++
			seen := ledger.Seen(n*10 + calls)
			answered := e.Outcome == "" && seen == 1 && e.Result == fmt.Sprint(n*10+calls)
			unsent := e.Outcome == "not_delivered" || e.Outcome == "invalid" // where no gateway answered within seconds
			if !answered && !(e.Outcome == "unknown" && seen <= 1) && !(unsent && seen == 0) {
				t.Errorf("run %d: the node saw call %d %d times: %s", n, calls, seen, data)
			}
		}
		if calls != 2 || last.Type != "complete" || last.FinishReason != "stop" || last.Content != fmt.Sprint("done ", n) {
			t.Errorf("run %d ends after %d calls with %.3000s", n, calls, heard)
		}
	}
	t.Logf("%d runs, whose calls ended with %v", len(l.runs), outcomes)
	return outcomes
}

// Both orchestrators are replaced, one after the other, while 20 clients run agents: no client notices.
func TestARollingRestartUnderLoad(t *testing.T) {
	t.Parallel()
	cluster.EachStorage(t, func(t *testing.T, database string) {
		w := newFixture(t, cluster.Options{Database: database})
		l := w.newLoad(t, 20)
		l.more(t, 20)
		for _, o := range w.Orchestrators {
			o.Stop(t)
			l.more(t, 10)
			o.Start()
			l.more(t, 20)
		}
		if outcomes := l.stop(t); outcomes["unknown"] > 0 || outcomes["not_delivered"]+outcomes["invalid"] > outcomes[""]/10 {
			t.Errorf("calls ended with %v", outcomes)
		}
	})
}

// The same without a word: calls that were at their nodes are unknown, and none runs twice.
func TestOrchestratorsAreKilledUnderLoad(t *testing.T) {
	t.Parallel()
	cluster.EachStorage(t, func(t *testing.T, database string) {
		w := newFixture(t, cluster.Options{Database: database, OrchestratorProcesses: true})
		l := w.newLoad(t, 20)
		l.more(t, 20)
		for _, o := range w.Orchestrators {
			o.Kill()
			l.more(t, 10)
			o.Start()
			l.more(t, 20)
		}
		outcomes := l.stop(t)
		if outcomes["unknown"] > 40 { // of two deaths, each with at most 20 calls in flight
			t.Errorf("calls ended with %v", outcomes)
		}
	})
}
