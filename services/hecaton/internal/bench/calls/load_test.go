package calls

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hecaton-dev/hecaton/services/hecaton/internal/bench/ledger"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/bench/plan"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/bench/timeline"
)

// cluster is a way to a cluster whose answers a test makes.
type cluster struct {
	plan    *plan.Plan
	attempt func(ctx context.Context, n int64, try int) ledger.End

	mu    sync.Mutex
	tries map[int64]int
}

func (c *cluster) Close() {}

func (c *cluster) Attempt(ctx context.Context, _ int64, r Request) (string, ledger.End) {
	var a Arguments
	if json.Unmarshal(r.Arguments, &a) != nil || r.Tool != Tool || a.Tag != "tag" {
		return "", ledger.End{Class: ledger.Unknown, Reason: "WHAT", Err: errors.New(string(r.Arguments))}
	}
	c.mu.Lock()
	c.tries[a.N]++
	try := c.tries[a.N]
	c.mu.Unlock()
	end := c.attempt(ctx, a.N, try)
	return Answer(c.plan, a.N, a.Answer), end
}

var answered = ledger.End{Class: ledger.Answered}

// run puts a cluster under load for so long.
func run(t *testing.T, o Options, lasts time.Duration, attempt func(ctx context.Context, n int64, try int) ledger.End) (*cluster, timeline.Snapshot, ledger.Balance) {
	t.Helper()
	o.Plan, o.Tag, o.Ledger, o.Recorder = plan.New(plan.Spec{Seed: 1, Users: 1, Nodes: 3}), "tag", ledger.New("call"), timeline.New(time.Now())
	c := &cluster{plan: o.Plan, attempt: attempt, tries: map[int64]int{}}
	o.Way = c
	if o.Timeout == 0 {
		o.Timeout = time.Minute
	}
	l := Start(t.Context(), o)
	<-time.After(lasts)
	l.Stop(t.Context())
	return c, o.Recorder.Snapshot(time.Now()), o.Ledger.Reconcile()
}

func work(d time.Duration) func(context.Context, int64, int) ledger.End {
	return func(context.Context, int64, int) ledger.End {
		<-time.After(d)
		return answered
	}
}

func TestAClosedLoop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		// Each of four callers makes a call in 100 ms, until 950 ms have passed.
		_, s, _ := run(t, Options{Callers: 4}, 950*time.Millisecond, work(100*time.Millisecond))
		if c := s.All.Calls; c.Answered != 40 || c.Latency[ledger.Answered].Max() != 100*time.Millisecond {
			t.Errorf("%d calls, %v", c.Answered, c.Latency[ledger.Answered].Max())
		}
	})
}

func TestAnOpenLoop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, s, _ := run(t, Options{Callers: 4, Rate: 20}, 2025*time.Millisecond, work(100*time.Millisecond))
		if a := s.All.Calls; a.Answered != 41 || a.Latency[ledger.Answered].Max() != 100*time.Millisecond || len(c.tries) != 41 {
			t.Errorf("%d calls, %v", a.Answered, a.Latency[ledger.Answered].Max())
		}
	})
}

// A cluster that stands still is not asked less for it: the calls that were meant to begin meanwhile count from when they
// were (no coordinated omission).
func TestAnOpenLoopCountsFromTheIntendedStart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		_, s, _ := run(t, Options{Callers: 2, Rate: 100}, 3*time.Second, func(_ context.Context, n int64, _ int) ledger.End {
			if now := time.Since(begin); now >= time.Second && now < 2*time.Second { // it stands still for a second
				<-time.After(2*time.Second - now)
			}
			<-time.After(time.Millisecond)
			return answered
		})
		c := s.All.Calls
		h := c.Latency[ledger.Answered]
		if c.Answered < 299 || c.Answered > 301 {
			t.Errorf("%d calls in 3 s at 100/s", c.Answered)
		}
		// A third of the calls was meant to begin while it stood still, and waited half a second on average.
		if h.Quantile(0.5) > 60*time.Millisecond || h.Quantile(0.83) < 400*time.Millisecond || h.Max() < 990*time.Millisecond {
			t.Errorf("p50 %v, p83 %v, max %v", h.Quantile(0.5), h.Quantile(0.83), h.Max())
		}
	})
}

// What was not delivered is tried again; nothing else is.
func TestOnlyWhatWasNotDeliveredIsRepeated(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, s, b := run(t, Options{Callers: 1, Rate: 10, Patience: 10 * time.Second}, 350*time.Millisecond, func(ctx context.Context, n int64, try int) ledger.End {
			switch {
			case n == 1 && try < 4:
				return ledger.End{Class: ledger.NotDelivered, Reason: "DRAINING"}
			case n == 2:
				return ledger.End{Class: ledger.Unknown, Reason: "HOLDER_LOST"}
			case n == 3:
				return ledger.End{Class: ledger.NotDelivered, Reason: "TOOL_NOT_OFFERED"}
			}
			return answered
		})
		if c.tries[0] != 1 || c.tries[1] != 4 || c.tries[2] != 1 || c.tries[3] != 1 {
			t.Errorf("attempts: %v", c.tries)
		}
		a := s.All.Calls
		if a.Answered != 2 || a.Retried != 1 || a.Refusals["DRAINING"] != 3 || a.Unknowns["HOLDER_LOST"] != 1 || a.GivenUp["TOOL_NOT_OFFERED"] != 1 {
			t.Errorf("%+v", a)
		}
		if b.Sent != 4 || b.Answered != 2 || b.NotDelivered != 1 || b.Unknown != 1 || b.Faults[ledger.Unexecuted] != 2 { // there are no nodes
			t.Errorf("%+v", b)
		}
	})
}

func TestPatienceEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, s, b := run(t, Options{Callers: 1, Patience: 3 * time.Second}, time.Second, func(context.Context, int64, int) ledger.End {
			return ledger.End{Class: ledger.NotDelivered, Reason: "NODE_NOT_CONNECTED"}
		})
		a := s.All.Calls
		if took := a.Latency[ledger.NotDelivered].Max(); a.GivenUp["NODE_NOT_CONNECTED"] != 1 || took < 3*time.Second || took > 4*time.Second || b.NotDelivered != 1 {
			t.Errorf("%+v, after %v", a, took)
		}
	})
}

// Who stops in a hurry does not wait for what is not delivered; what is in progress is waited for.
func TestStoppedInAHurry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := Options{
			Plan: plan.New(plan.Spec{Seed: 1, Users: 1, Nodes: 3}), Tag: "tag", Ledger: ledger.New("call"), Recorder: timeline.New(time.Now()),
			Callers: 2, Timeout: time.Minute, Patience: time.Hour,
		}
		o.Way = &cluster{plan: o.Plan, tries: map[int64]int{}, attempt: func(_ context.Context, n int64, _ int) ledger.End {
			if n == 0 {
				return ledger.End{Class: ledger.NotDelivered, Reason: "DRAINING"}
			}
			<-time.After(10 * time.Second)
			return answered
		}}
		l := Start(t.Context(), o)
		<-time.After(time.Second)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		began := time.Now()
		l.Stop(ctx)
		if took := time.Since(began); took != 9*time.Second {
			t.Errorf("it took %v", took)
		}
		if b := o.Ledger.Reconcile(); b.Answered != 1 || b.Open != 1 || b.NotDelivered != 0 {
			t.Errorf("%+v", b)
		}
	})
}
