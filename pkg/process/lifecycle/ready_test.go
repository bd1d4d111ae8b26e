package lifecycle_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/process/lifecycle"
)

func TestReady(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	r := lifecycle.NewReady("nats", "redis")
	if failing := r.Failing(ctx); len(failing) != 2 || !errors.Is(failing["nats"], lifecycle.ErrNotYet) {
		t.Errorf("conditions start unmet, got %v", failing)
	}
	r.Set("nats", nil)
	r.Set("redis", nil)
	if failing := r.Failing(ctx); len(failing) != 0 {
		t.Errorf("got %v", failing)
	}
	r.Set("redis", errBroken)
	if failing := r.Failing(ctx); len(failing) != 1 || !errors.Is(failing["redis"], errBroken) {
		t.Errorf("got %v", failing)
	}
	r.Set("redis", nil)
	if r.Draining() {
		t.Error("draining before Drain")
	}
	r.Drain()
	if failing := r.Failing(ctx); !r.Draining() || !errors.Is(failing["drain"], lifecycle.ErrDraining) {
		t.Errorf("got %v", failing)
	}
}

func TestZeroReadyIsReady(t *testing.T) {
	t.Parallel()
	var r lifecycle.Ready
	if failing := r.Failing(t.Context()); len(failing) != 0 {
		t.Errorf("got %v", failing)
	}
	r.Set("a", errBroken)
	r.Watch("b", fails(errBroken))
	if failing := r.Failing(t.Context()); len(failing) != 2 {
		t.Errorf("got %v", failing)
	}
}

func TestWatchedConditionsAreAskedTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var r lifecycle.Ready
		for _, name := range []string{"a", "b", "c"} {
			r.Watch(name, func(ctx context.Context) error {
				<-ctx.Done()
				return ctx.Err()
			})
		}
		r.Watch("fine", fails(nil))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		failing := r.Failing(ctx)
		if len(failing) != 3 || !errors.Is(failing["b"], context.DeadlineExceeded) {
			t.Errorf("got %v", failing)
		}
		if took := time.Since(began); took != time.Second {
			t.Errorf("took %s, want the one second that all three share", took)
		}
	})
}

func TestLingerCountsFromTheDrain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var r lifecycle.Ready
		linger := func(ctx context.Context, want time.Duration) {
			t.Helper()
			began := time.Now()
			r.Linger(ctx, 3*time.Second)
			if took := time.Since(began); took != want {
				t.Errorf("it took %s, want %s", took, want)
			}
		}
		r.Drain()
		<-time.After(time.Second)
		r.Drain() // which is not the beginning
		ended, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		linger(ended, 500*time.Millisecond)
		linger(t.Context(), 1500*time.Millisecond)
		linger(t.Context(), 0)
		var other lifecycle.Ready // that begins to drain by this
		other.Linger(t.Context(), 3*time.Second)
		if !other.Draining() {
			t.Error("it does not drain")
		}
	})
}
