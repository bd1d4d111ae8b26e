package limits_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/process/config"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/pod/limits"
)

// registry counts what it is told. Of places it grants those that are left of all, as Redis does; of rates it owes debt.
type registry struct {
	mu     sync.Mutex
	asked  int
	spent  map[string]int64
	others int64 // places that other pods hold
	debt   int64
	away   bool
}

func (r *registry) ShareUse(_ context.Context, _ time.Duration, users []*nodev1.UserUse) ([]*nodev1.UserShare, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked++
	if r.away {
		return nil, errors.New("away")
	}
	shares := make([]*nodev1.UserShare, len(users))
	for i, u := range users {
		shares[i] = &nodev1.UserShare{}
		for _, s := range u.GetSpent() {
			r.spent[s.GetLimit()] += s.GetAmount()
			shares[i].Left = append(shares[i].Left, s.GetBurst()-r.debt)
		}
		for _, p := range u.GetPlaces() {
			shares[i].Granted = append(shares[i].Granted, max(p.GetHeld(), min(p.GetWanted(), p.GetMost()-r.others)))
		}
	}
	return shares, nil
}

func (r *registry) set(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f()
}

func start(t *testing.T, r *registry, change func(*limits.Settings)) *limits.Limiter {
	t.Helper()
	var s limits.Settings
	if err := config.Defaults(&s); err != nil {
		t.Fatal(err)
	}
	change(&s)
	r.spent = map[string]int64{}
	l := limits.New(limits.Config{Settings: s, Registry: r, Metrics: prometheus.NewRegistry(), Logger: slog.New(slog.DiscardHandler)})
	t.Cleanup(l.Close)
	return l
}

// calls makes n calls at once and returns how many were let in.
func calls(t *testing.T, l *limits.Limiter, user ids.UserID, n int) (in int) {
	t.Helper()
	for range n {
		a, err := l.Enter(user, 0)
		if err == nil {
			a.Leave()
			in++
		} else if !errors.Is(err, errs.RateLimited) {
			t.Fatal(err)
		}
	}
	return in
}

func tenASecond(s *limits.Settings) { s.CallsPerSecond, s.CallsBurst = 10, 160 }

func TestABucketHoldsTheBurstAndFillsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := start(t, &registry{}, tenASecond)
		if in := calls(t, l, "ana", 200); in != 160 {
			t.Errorf("%d calls were let in at once", in)
		}
		synctest.Wait()
		time.Sleep(3 * time.Second) //nolint:forbidigo // of the bubble's own clock
		if in := calls(t, l, "ana", 200); in != 30 {
			t.Errorf("%d calls were let in after 3 s", in)
		}
		if in := calls(t, l, "ben", 200); in != 160 {
			t.Errorf("another user: %d", in)
		}
	})
}

func TestAQuietUserCostsTheRegistryNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &registry{}
		l := start(t, r, tenASecond)
		calls(t, l, "ana", 9) // less than a sixteenth of 160
		place, err := l.Stream(t.Context(), "ana")
		if err != nil {
			t.Fatal(err)
		}
		defer place.Leave()
		time.Sleep(20 * time.Second) //nolint:forbidigo // of the bubble's own clock
		r.set(func() {
			if r.asked != 0 {
				t.Errorf("the registry was asked %d times", r.asked)
			}
		})
		calls(t, l, "ana", 1)
		synctest.Wait()
		r.set(func() {
			if r.asked != 1 || r.spent["calls"] != 10 {
				t.Errorf("after 10 calls it was asked %d times and told of %d", r.asked, r.spent["calls"])
			}
		})
	})
}

func TestWhatOtherPodsTookIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &registry{debt: 160 + 50}
		l := start(t, r, tenASecond)
		calls(t, l, "ana", 10)
		synctest.Wait()
		if in := calls(t, l, "ana", 10); in != 0 {
			t.Errorf("%d calls were let in while 50 are owed", in)
		}
		time.Sleep(5*time.Second + 200*time.Millisecond) //nolint:forbidigo // of the bubble's own clock
		if in := calls(t, l, "ana", 1); in != 1 {
			t.Error("what is owed is never paid back")
		}
	})
}

func TestWhatCouldNotBeToldIsToldLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &registry{away: true}
		l := start(t, r, tenASecond)
		calls(t, l, "ana", 40)
		time.Sleep(10 * time.Second) //nolint:forbidigo // of the bubble's own clock
		r.set(func() {
			if r.asked < 2 || r.asked > 12 {
				t.Errorf("while it was away the registry was asked %d times in 10 s", r.asked)
			}
			r.away = false
		})
		time.Sleep(2 * time.Second) //nolint:forbidigo // of the bubble's own clock
		r.set(func() {
			if r.spent["calls"] != 40 {
				t.Errorf("it was told of %d calls of 40", r.spent["calls"])
			}
		})
	})
}

func TestPlacesBeyondThePodsOwnAreAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &registry{others: 26}
		l := start(t, r, func(s *limits.Settings) { s.WebSockets = 32 })
		var held []*limits.Place
		for range 10 {
			p, err := l.WebSocket(t.Context(), "ana")
			if err != nil {
				if !errors.Is(err, errs.RateLimited) {
					t.Fatal(err)
				}
				continue
			}
			held = append(held, p)
		}
		if len(held) != 6 {
			t.Errorf("%d places were given, where 26 of 32 are others'", len(held))
		}
		for _, p := range held {
			p.Leave()
			p.Leave() // twice is once
		}
		// Nobody can be asked: the pod has the whole limit.
		r.set(func() { r.away = true })
		in := 0
		for range 40 {
			if _, err := l.WebSocket(t.Context(), "ana"); err == nil {
				in++
			}
		}
		if in != 32 {
			t.Errorf("alone the pod gave %d of 32", in)
		}
	})
}

func TestWhoStopsWaitingHoldsNothing(t *testing.T) {
	t.Parallel()
	r := &registry{}
	l := start(t, r, func(s *limits.Settings) { s.Streams = 16 })
	first, err := l.Stream(t.Context(), "ana") // the pod's own
	if err != nil {
		t.Fatal(err)
	}
	defer first.Leave()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r.mu.Lock() // the registry does not answer
	_, err = l.Stream(ctx, "ana")
	r.mu.Unlock()
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	for i := range 15 {
		if _, err := l.Stream(t.Context(), "ana"); err != nil {
			t.Fatalf("place %d of 16: %v", i+2, err)
		}
	}
}

func TestOpenCallsAreBounded(t *testing.T) {
	t.Parallel()
	l := start(t, &registry{}, func(s *limits.Settings) { s.OpenCalls = 2 })
	a, _ := l.Enter("ana", 0)
	_, _ = l.Enter("ana", 0)
	if _, err := l.Enter("ana", 0); !errors.Is(err, errs.RateLimited) {
		t.Errorf("a third call: %v", err)
	}
	a.Leave()
	if _, err := l.Enter("ana", 0); err != nil {
		t.Error(err)
	}
}

func TestFailedLoginsCountByAddress(t *testing.T) {
	t.Parallel()
	l := start(t, &registry{}, func(s *limits.Settings) { s.FailedLoginsPerSecond, s.FailedLoginsBurst = 1, 3 })
	from := func(addr string) error {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", strings.NewReader(""))
		r.RemoteAddr = addr
		return l.FailedLogin(r)
	}
	for port := range 3 {
		if err := from("192.0.2.1:" + string(rune('1'+port))); err != nil {
			t.Errorf("login %d: %v", port, err)
		}
	}
	if err := from("192.0.2.1:99"); !errors.Is(err, errs.RateLimited) {
		t.Errorf("the fourth: %v", err)
	}
	if err := from("192.0.2.2:99"); err != nil {
		t.Errorf("another address: %v", err)
	}
	for _, addr := range []string{"[2001:db8::1]:1", "[2001:db8::2]:1", "[2001:db8::ffff:1]:1"} {
		if err := from(addr); err != nil {
			t.Errorf("%s: %v", addr, err)
		}
	}
	if err := from("[2001:db8::3]:1"); !errors.Is(err, errs.RateLimited) {
		t.Errorf("a site is one address: %v", err)
	}
}

func TestNoLimits(t *testing.T) {
	t.Parallel()
	for name, l := range map[string]*limits.Limiter{
		"nil": nil, "zero": start(t, &registry{}, func(s *limits.Settings) { *s = limits.Settings{} }),
	} {
		for range 1000 {
			a, err := l.Enter("ana", 1<<40)
			if err != nil {
				t.Fatal(name, err)
			}
			a.Pay(1 << 40)
			a.PayAndWait(t.Context(), 1<<40)
			c, err2 := l.Connect("ana")
			p, err3 := l.Stream(t.Context(), "ana")
			if err := errors.Join(err2, err3, a.Ask()); err != nil {
				t.Fatal(name, err)
			}
			a.Leave()
			c.Close()
			p.Leave()
		}
	}
}

func TestSettingsThatCannotBe(t *testing.T) {
	t.Parallel()
	for _, s := range []limits.Settings{
		{CallsPerSecond: -1}, {Streams: -1}, {CallsPerSecond: 1}, {BytesPerSecond: 1}, {FailedLoginsPerSecond: 1},
	} {
		if s.Validate() == nil {
			t.Errorf("%+v was taken", s)
		}
	}
	if err := (limits.Settings{}).Validate(); err != nil {
		t.Error(err)
	}
}

// BenchmarkEnter is what the limits cost a call.
func BenchmarkEnter(b *testing.B) {
	r := &registry{spent: map[string]int64{}}
	l := limits.New(limits.Config{
		Settings: limits.Settings{CallsPerSecond: 1 << 40, CallsBurst: 1 << 40, BytesPerSecond: 1 << 40, BytesBurst: 1 << 40, OpenCalls: 1 << 30},
		Registry: r, Metrics: prometheus.NewRegistry(), Logger: slog.New(slog.DiscardHandler),
	})
	defer l.Close()
	b.ReportAllocs()
	for b.Loop() {
		a, err := l.Enter("somebody", 100)
		if err != nil {
			b.Fatal(err)
		}
		a.Leave()
	}
}
