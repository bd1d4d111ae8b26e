package drain_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/pod/drain"
)

// pod is a pod whose clients do as they are told.
type pod struct {
	t     *testing.T
	begun time.Time // when the drain began; zero before

	mu   sync.Mutex
	open map[*client]struct{}
	left []time.Duration // when clients were told to leave, since the drain began
}

// client is one connection of it.
type client struct {
	pod   *pod
	busy  chan struct{} // closed when its calls are over
	lasts time.Duration // how long it stays although it was told to leave

	retired, told bool // guarded by pod.mu
}

func newPod(t *testing.T, clients int) *pod {
	p := &pod{t: t, open: map[*client]struct{}{}}
	for range clients {
		close(p.enter().busy)
	}
	return p
}

// enter opens a connection that is busy.
func (p *pod) enter() *client {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := &client{pod: p, busy: make(chan struct{})}
	p.open[c] = struct{}{}
	return c
}

func (p *pod) Connections() []drain.Connection {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []drain.Connection
	for c := range p.open {
		all = append(all, c)
	}
	return all
}

func (p *pod) CallsOpen() int { return 7 }

func (c *client) Retire() <-chan struct{} {
	c.pod.mu.Lock()
	defer c.pod.mu.Unlock()
	if c.retired {
		c.pod.t.Error("a connection is retired twice")
	}
	c.retired = true
	return c.busy
}

func (c *client) Leave() {
	p := c.pod
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.told || !c.retired {
		p.t.Errorf("told before: %v, retired: %v", c.told, c.retired)
	}
	c.told = true
	p.left = append(p.left, time.Since(p.begun))
	if c.lasts == 0 {
		delete(p.open, c)
		return
	}
	time.AfterFunc(c.lasts, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.open, c)
	})
}

// job returns a job that may be started, and ends with the test.
func (p *pod) job(cfg drain.Config) *drain.Job {
	cfg.Pod, cfg.Logger = p, obs.OrDiscard(nil)
	cfg.Begin = func() {
		if !p.begun.IsZero() {
			p.t.Error("the drain begins twice")
		}
		p.begun = time.Now()
	}
	j := drain.New(cfg)
	j.Open()
	return j
}

// drained runs a drain to its end.
func (p *pod) drained(cfg drain.Config) *drain.Job {
	p.t.Helper()
	j := p.job(cfg)
	j.Finish(p.t.Context())
	if s := j.Status(); s.State != drain.Drained {
		p.t.Errorf("%+v", s)
	}
	return j
}

// bubble runs a test with a clock of its own.
func bubble(t *testing.T, f func(t *testing.T)) {
	t.Parallel()
	synctest.Test(t, f)
}

func TestPace(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		clients  int
		pace     drain.Pace
		min, max time.Duration
	}{
		{"nobody", 0, drain.Pace{Spread: 5 * time.Second}, 0, 0},
		{"a handful is not held up", 3, drain.Pace{Spread: 5 * time.Second, Rate: 1000}, 50 * time.Millisecond, 300 * time.Millisecond},
		{"as long as the spread", 1000, drain.Pace{Spread: 5 * time.Second, Rate: 1000}, 4900 * time.Millisecond, 5100 * time.Millisecond},
		{"thousands do not come in a burst", 20000, drain.Pace{Spread: 5 * time.Second, Rate: 1000}, 19 * time.Second, 21 * time.Second},
		{"no limit", 20000, drain.Pace{Spread: 5 * time.Second}, 4900 * time.Millisecond, 5100 * time.Millisecond},
		{"an operator's word", 3, drain.Pace{Spread: time.Minute, Exact: true}, 30 * time.Second, 90 * time.Second},
		{"at once", 100, drain.Pace{Exact: true}, 0, 50 * time.Millisecond},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				p := newPod(t, tt.clients)
				took := p.drained(drain.Config{Pace: tt.pace}).Took()
				if took < tt.min || took > tt.max+50*time.Millisecond {
					t.Errorf("%d clients took %s, want %s to %s", tt.clients, took, tt.min, tt.max)
				}
			})
		})
	}
}

// Of a thousand clients over ten seconds no second has many more than its share, and the pauses differ.
func TestClientsAreSpread(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := newPod(t, 1000)
		p.drained(drain.Config{Pace: drain.Pace{Spread: 10 * time.Second}})
		var seconds [10]int
		pauses := map[time.Duration]bool{}
		for i, at := range p.left {
			seconds[min(9, at/time.Second)]++
			if i > 0 {
				pauses[at-p.left[i-1]] = true
			}
		}
		if slices.Max(seconds[:]) > 130 || slices.Min(seconds[:]) < 70 {
			t.Errorf("clients that left each second: %v", seconds)
		}
		if len(pauses) < 500 {
			t.Errorf("%d different pauses", len(pauses))
		}
	})
}

func TestLoadBalancersHaveTimeToNotice(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := newPod(t, 10)
		p.drained(drain.Config{Delay: 3 * time.Second})
		if p.left[0] < 3*time.Second || p.left[9] > 4*time.Second {
			t.Errorf("clients were told to leave after %v", p.left)
		}
	})
}

func TestCallsFinish(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := newPod(t, 10)
		busy := p.enter()
		time.AfterFunc(8*time.Second, func() { close(busy.busy) })
		took := p.drained(drain.Config{Pace: drain.Pace{Spread: time.Second}}).Took()
		if took < 8*time.Second || took > 8100*time.Millisecond {
			t.Errorf("it took %s", took)
		}
		if p.left[9] > 1500*time.Millisecond || p.left[10] != 8*time.Second {
			t.Errorf("clients were told to leave after %v", p.left)
		}
	})
}

// Some handshakes were under way when the pod began to refuse new ones, and some clients take their time to leave.
func TestNobodyIsForgotten(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := newPod(t, 5)
		for c := range p.open {
			c.lasts = rand.N(2 * time.Second)
		}
		for i := range 20 {
			time.AfterFunc(time.Duration(i)*50*time.Millisecond, func() { close(p.enter().busy) })
		}
		p.drained(drain.Config{Pace: drain.Pace{Spread: 500 * time.Millisecond}})
		if len(p.left) != 25 || len(p.open) != 0 {
			t.Errorf("%d clients were told to leave, %d are left", len(p.left), len(p.open))
		}
	})
}

func TestFinishKeepsToTheGracePeriod(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := newPod(t, 1000)
		stuck := p.enter()
		j := p.job(drain.Config{Delay: 2 * time.Second, Pace: drain.Pace{Spread: time.Hour, Rate: 1}})
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		j.Finish(ctx)
		last := p.left[len(p.left)-1]
		if len(p.left) != 1001 || !stuck.told || last != 20*time.Second {
			t.Errorf("%d clients left, the last after %s", len(p.left), last)
		}
		if most := p.left[999]; most > 16*time.Second || most < 14*time.Second {
			t.Errorf("those without calls left within %s, want three quarters of the grace period", most)
		}
		if s := j.Status(); s.State != drain.Draining {
			t.Errorf("a drain that was cut off calls itself %s", s.State)
		}
	})
}

// Also who comes last, or before the drain has told anybody, is told at the end of the grace period.
func TestNobodyIsLeftWithoutAWord(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := newPod(t, 10)
		p.enter() // whose call does not end
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		p.job(drain.Config{Delay: time.Minute, Pace: drain.Pace{Spread: time.Hour}}).Finish(ctx)
		if len(p.left) != 11 || len(p.open) != 0 || slices.Max(p.left) != time.Second {
			t.Errorf("%d clients were told to leave, %d are left", len(p.left), len(p.open))
		}
	})
}

// The end of the program finds a slow drain under way, and does not wait an hour for it.
func TestFinishHurriesASlowDrain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		for _, under := range []time.Duration{0, time.Second, time.Minute} { // in the delay, and later
			p := newPod(t, 100)
			j := p.job(drain.Config{Delay: 2 * time.Second, Pace: drain.Pace{Spread: 5 * time.Second}})
			j.Start(drain.Pace{Spread: time.Hour, Exact: true})
			<-time.After(under)
			before := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			j.Finish(ctx)
			cancel()
			if took := time.Since(before); took < 4*time.Second || took > 7100*time.Millisecond || len(p.left) != 100 {
				t.Errorf("it took %s, %d clients left", took, len(p.left))
			}
		}
	})
}

// A program that ends after an operator drained it does not drain again.
func TestADrainRunsOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := newPod(t, 10)
		j := p.job(drain.Config{Delay: 3 * time.Second, Pace: drain.Pace{Spread: time.Second}})
		j.Start(drain.Pace{Spread: 2 * time.Second, Exact: true})
		<-time.After(time.Minute)
		took, before := j.Took(), time.Now()
		j.Start(drain.Pace{Spread: time.Hour, Exact: true})
		j.Finish(t.Context())
		if time.Since(before) != 0 || j.Took() != took {
			t.Errorf("the second took %s", time.Since(before))
		}
		if s := j.Status(); s.State != drain.Drained || !s.Since.Before(before) {
			t.Errorf("%+v", s)
		}
	})
}

func TestNobodyDrainsAPodThatDoesNotServe(t *testing.T) {
	t.Parallel()
	j := drain.New(drain.Config{Pod: newPod(t, 1), Logger: obs.OrDiscard(nil)})
	if code, _ := ask(t, j, http.MethodPost, ""); code != http.StatusConflict {
		t.Errorf("a drain is answered with %d", code)
	}
	if code, s := ask(t, j, http.MethodGet, ""); code != http.StatusOK || s["state"] != "serving" {
		t.Errorf("%d %v", code, s)
	}
}

func ask(t *testing.T, j *drain.Job, method, query string) (int, map[string]any) {
	t.Helper()
	w := httptest.NewRecorder()
	j.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, drain.Path+query, nil))
	var body map[string]any
	_ = json.Unmarshal(w.Body.Bytes(), &body) // refusals are text
	return w.Code, body
}

func TestAdminPort(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := newPod(t, 10)
		j := p.job(drain.Config{Pace: drain.Pace{Spread: time.Second}})
		want := func(method, query string, code int, state string, left int) {
			t.Helper()
			got, s := ask(t, j, method, query)
			if got != code || state != "" && (s["state"] != state || fmt.Sprint(s["connections_left"], s["calls_open"]) != fmt.Sprint(left, 7)) {
				t.Errorf("%s %s: %d %v", method, query, got, s)
			}
		}
		want("GET", "", 200, "serving", 10)
		for _, bad := range []string{"?spread=fast", "?spread=-1s", "?spread=3"} {
			want("POST", bad, 400, "", 0)
		}
		want("DELETE", "", 405, "", 0)
		want("POST", "?spread=100s", 202, "draining", 10)
		<-time.After(50 * time.Second)
		s := j.Status()
		if s.ConnectionsLeft < 3 || s.ConnectionsLeft > 7 {
			t.Errorf("%d connections are left after half of the spread", s.ConnectionsLeft)
		}
		want("POST", "?spread=1s", 202, "draining", s.ConnectionsLeft) // which began already
		<-time.After(60 * time.Second)
		want("GET", "", 200, "drained", 0)
		want("POST", "", 202, "drained", 0)
		j.Finish(t.Context())
	})
}

func TestStatesHaveNames(t *testing.T) {
	t.Parallel()
	for _, s := range []drain.State{drain.Serving, drain.Draining, drain.Drained} {
		var back drain.State
		text, err := s.MarshalText()
		if err == nil {
			err = back.UnmarshalText(text)
		}
		if err != nil || back != s {
			t.Errorf("%s comes back as %s: %v", s, back, err)
		}
	}
	if err := new(drain.State).UnmarshalText([]byte("gone")); err == nil {
		t.Error("any word is a state")
	}
}
