package load

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

func TestQuantileIsExact(t *testing.T) {
	t.Parallel()
	hundred := make([]time.Duration, 100)
	for i := range hundred {
		hundred[i] = time.Duration(i + 1)
	}
	for _, c := range []struct {
		samples []time.Duration
		q       float64
		want    time.Duration
	}{
		{hundred, 0.5, 50},
		{hundred, 0.99, 99},
		{hundred, 0.991, 100},
		{hundred, 0, 1},
		{hundred, 1, 100},
		{hundred[:1], 0.99, 1},
		{hundred[:3], 0.5, 2},
		{hundred[:4], 0.5, 2},
	} {
		if got := Quantile(c.samples, c.q); got != c.want {
			t.Errorf("quantile %v of %d samples is %d, want %d", c.q, len(c.samples), got, c.want)
		}
	}
}

func TestRunKeepsEverySample(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		open := make(map[int]bool)
		r, err := Run(t.Context(), Job{Workers: 4, Size: 7, For: time.Hour, Calls: 10, Call: func(_ context.Context, worker int) (int, error) {
			mu.Lock()
			if open[worker] {
				t.Errorf("worker %d makes two calls at once", worker)
			}
			open[worker] = true
			mu.Unlock()
			<-time.After(time.Duration(worker+1) * time.Second)
			mu.Lock()
			open[worker] = false
			mu.Unlock()
			return 7, nil
		}})
		if err != nil || len(r.Samples) != 10 || !slices.IsSorted(r.Samples) {
			t.Fatal(err, r.Samples)
		}
		if r.Samples[0] != time.Second || r.Samples[9] != 4*time.Second {
			t.Error(r.Samples)
		}
		if got := r.PerSecond(); got != 10/r.Elapsed.Seconds() {
			t.Error(got)
		}
	})
}

func TestRunEndsInTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, err := Run(t.Context(), Job{Workers: 2, For: 10 * time.Second, Calls: 1 << 30, Call: func(context.Context, int) (int, error) {
			<-time.After(3 * time.Second)
			return 0, nil
		}})
		// Calls begin at 0, 3, 6 and 9 s; the last ones end at 12 s.
		if err != nil || len(r.Samples) != 8 || r.Elapsed != 12*time.Second {
			t.Error(err, len(r.Samples), r.Elapsed)
		}
	})
}

func TestRunEndsWithTheFirstFailure(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for name, call := range map[string]Call{
		"error":      func(context.Context, int) (int, error) { return 5, broken },
		"wrong size": func(context.Context, int) (int, error) { return 4, nil },
	} {
		r, err := Run(t.Context(), Job{Workers: 3, Size: 5, For: time.Hour, Calls: 1 << 30, Call: call})
		if err == nil || name == "error" && !errors.Is(err, broken) || len(r.Samples) != 0 {
			t.Errorf("%s: %v, %d samples", name, err, len(r.Samples))
		}
	}
	if _, err := Run(t.Context(), Job{Workers: 1, For: time.Hour}); err == nil {
		t.Error("no error where no call was made")
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err := Run(ctx, Job{Workers: 1, For: time.Hour, Calls: 1 << 30, Call: func(context.Context, int) (int, error) {
		cancel()
		return 0, nil
	}})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A call that takes long keeps nobody waiting, and a sample is from the moment at which the call was due.
func TestSteadyIsAnOpenLoop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var mu sync.Mutex
		var begun []time.Duration
		r, err := RunSteady(t.Context(), Steady{Rate: 2, Size: 7, For: 5 * time.Second, Call: func(_ context.Context, i int) (int, error) {
			mu.Lock()
			begun = append(begun, time.Since(began))
			mu.Unlock()
			<-time.After(time.Duration(i+1) * time.Second)
			return 7, nil
		}})
		if err != nil || len(r.Samples) != 10 || r.Samples[0] != time.Second || r.Samples[9] != 10*time.Second {
			t.Fatal(err, r.Samples)
		}
		for i, at := range begun {
			if want := time.Duration(i) * time.Second / 2; at != want {
				t.Errorf("call %d began after %v, want %v", i, at, want)
			}
		}
		if want := 14500 * time.Millisecond; r.Elapsed != want { // the tenth began after 4.5 s and took 10
			t.Error(r.Elapsed)
		}
	})
}

func TestSteadyEndsWithTheFirstFailure(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for name, call := range map[string]func(context.Context, int) (int, error){
		"error":      func(context.Context, int) (int, error) { return 5, broken },
		"wrong size": func(context.Context, int) (int, error) { return 4, nil },
	} {
		_, err := RunSteady(t.Context(), Steady{Rate: 1000, Size: 5, For: time.Hour, Call: call})
		if err == nil || name == "error" && !errors.Is(err, broken) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := RunSteady(t.Context(), Steady{Rate: 1, For: time.Millisecond}); err == nil {
		t.Error("no error where no call was made")
	}
}
