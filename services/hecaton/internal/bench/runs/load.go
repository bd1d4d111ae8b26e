package runs

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/process/sleep"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/bench/calls"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/bench/ledger"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/bench/plan"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/bench/timeline"
)

// Tool is the tool that runs call.
const Tool = "bench_step"

// Options of runs.
type Options struct {
	Plan *plan.Plan
	// Tag tells this load's runs from those of any other.
	Tag     string
	Servers []string
	Token   func(user string) (string, error)
	// Ledger is that of steps: step i of run n has the number n*plan.MaxSteps+i, and is for a user: a run whose node is away
	// may go to another one of them.
	Ledger   *ledger.Ledger
	Recorder *timeline.Recorder
	// Sessions is how many runs go on at once.
	Sessions int
	// Timeout is how long one may take.
	Timeout time.Duration
}

// Load is runs that go on.
type Load struct {
	o      Options
	client *client
	next   atomic.Int64
	// permitted are the users whose runs ask nobody.
	permitted sync.Map
	open      atomic.Int64
	quit      chan struct{}
	end       context.CancelFunc
	work      sync.WaitGroup

	mu    sync.Mutex
	found Findings
}

// Findings are what was wrong with runs, the first of each kind in full.
type Findings struct {
	// Broken is how many promises were broken, Problems which.
	Broken   int
	Problems []Problem
	// Remarks are runs that stopped early without a failed call.
	Remarks []Problem
}

// Problem is one finding.
type Problem struct {
	Run  int64  `json:"run"`
	Text string `json:"text"`
}

// maxProblems is how many are told in full.
const maxProblems = 50

// Start begins runs; when one is over, the next one begins, until Stop.
func Start(ctx context.Context, o Options) *Load {
	l := &Load{o: o, client: newClient(o.Servers, o.Token, o.Sessions), quit: make(chan struct{})}
	ctx, l.end = context.WithCancel(ctx)
	for range o.Sessions {
		l.work.Go(func() {
			for {
				select {
				case <-l.quit:
					return
				case <-ctx.Done():
					return
				default:
				}
				n := l.next.Add(1) - 1
				l.permit(ctx, l.o.Plan.Node(l.o.Plan.Run(n).Node).User)
				l.run(ctx, n)
			}
		})
	}
	return l
}

// permit sets a user's approval mode so that only tools ask that a request marks. If it fails for good, the runs show it:
// their calls ask.
func (l *Load) permit(ctx context.Context, user string) {
	if _, done := l.permitted.Load(user); done {
		return
	}
	for range 100 {
		answer, err := l.client.ask(ctx, http.MethodPut, "/api/agent/approval-settings", user, map[string]string{"mode": "run_everything"}, nil)
		if err == nil {
			_ = answer.Close() // it tells what was sent
			l.permitted.Store(user, true)
			return
		}
		if !passing(err) || !sleep.For(ctx, 100*time.Millisecond) {
			return
		}
	}
}

// Open is how many runs go on.
func (l *Load) Open() int { return int(l.open.Load()) }

// Stop lets no more runs begin, waits for those in progress, and returns what was wrong. When ctx ends, it does not wait:
// runs in progress stay open.
func (l *Load) Stop(ctx context.Context) Findings {
	close(l.quit)
	stop := context.AfterFunc(ctx, l.end)
	l.work.Wait()
	stop()
	l.end()
	l.client.http.CloseIdleConnections()
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.found
}

func (l *Load) problem(n int64, format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.found.Broken++
	l.found.Problems = tell(l.found.Problems, n, format, args...)
}

func (l *Load) remark(n int64, format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.found.Remarks = tell(l.found.Remarks, n, format, args...)
}

func tell(list []Problem, n int64, format string, args ...any) []Problem {
	if len(list) < maxProblems {
		list = append(list, Problem{n, fmt.Sprintf(format, args...)})
	}
	return list
}

// run is one run, from its invoke to its end.
func (l *Load) run(ctx context.Context, n int64) {
	l.open.Add(1)
	defer l.open.Add(-1)
	what := l.o.Plan.Run(n)
	node := l.o.Plan.Node(what.Node)
	r := &run{
		Load: l, n: n, what: what, user: node.User, session: fmt.Sprintf("bench-%s-%d", l.o.Tag, n),
		begin: time.Now(), results: map[string]bool{}, steps: map[string]int{},
	}
	var goal []string
	for i, step := range what.Steps {
		number := Number(n, i)
		l.o.Ledger.Send(number, l.o.Plan.Owner(what.Node))
		arguments, _ := json.Marshal(calls.NewArguments(l.o.Plan, l.o.Tag, number, step)) // strings and numbers are always JSON
		goal = append(goal, "call "+Tool+" "+string(arguments))
	}
	body := map[string]any{
		"message": strings.Join(goal, " then "), "session_id": r.session, "preferred_node_id": node.ID,
	}
	if what.Approve {
		body["tool_interrupt_config"] = map[string]any{Tool: map[string]bool{"enabled": true, "requires_interrupt": true}}
	}
	late, cancel := context.WithTimeout(ctx, l.o.Timeout)
	defer cancel()
	finish, err := r.follow(late, body)
	if ctx.Err() != nil && err != nil {
		return // it was cut short; its steps count as open
	}
	r.end(finish, err)
}

// Number is that of a step in the ledger.
func Number(run int64, step int) int64 { return run*plan.MaxSteps + int64(step) }
