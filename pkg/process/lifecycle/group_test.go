package lifecycle_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/process/lifecycle"
)

// journal records what happened, in order.
type journal struct {
	mu      sync.Mutex
	entries []string
}

func (j *journal) add(format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.entries = append(j.entries, fmt.Sprintf(format, args...))
}

func (j *journal) note(entry string) func(context.Context) error {
	return func(context.Context) error {
		j.add("%s", entry)
		return nil
	}
}

// running is a part that runs until its context ends.
func (j *journal) running(name string) func(context.Context) error {
	return func(ctx context.Context) error {
		<-ctx.Done()
		j.add("%s ended", name)
		return ctx.Err()
	}
}

func (j *journal) want(t *testing.T, entries ...string) {
	t.Helper()
	j.mu.Lock()
	defer j.mu.Unlock()
	if !slices.Equal(j.entries, entries) {
		t.Errorf("got  %q\nwant %q", j.entries, entries)
	}
}

func fails(err error) func(context.Context) error {
	return func(context.Context) error { return err }
}

var errBroken = errors.New("broken")

func TestStartsInOrderAndStopsInReverse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var j journal
		var g lifecycle.Group
		g.Add("a", j.note("start a"), j.note("stop a"))
		g.Go("b", j.running("b"), j.note("stop b"))
		g.Add("c", nil, func(context.Context) error {
			synctest.Wait() // b would end now if it could
			j.add("stop c")
			return nil
		})
		g.Add("d", j.note("start d"), nil)
		g.Go("e", j.running("e"), nil)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- g.Run(ctx) }()
		synctest.Wait()
		j.want(t, "start a", "start d")
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the end of the context is no failure, got %v", err)
		}
		j.want(t, "start a", "start d", "e ended", "stop c", "stop b", "b ended", "stop a")
	})
}

func TestFailingStartStopsWhatWorks(t *testing.T) {
	t.Parallel()
	var j journal
	var g lifecycle.Group
	g.Add("a", j.note("start a"), j.note("stop a"))
	g.Go("b", j.running("b"), nil)
	g.Add("c", fails(errBroken), j.note("stop c"))
	g.Add("d", j.note("start d"), j.note("stop d"))
	err := g.Run(t.Context())
	if !errors.Is(err, errBroken) || err.Error() != "start c: broken" {
		t.Errorf("got %v", err)
	}
	j.want(t, "start a", "b ended", "stop a")
}

func TestFailingRunStopsAll(t *testing.T) {
	t.Parallel()
	var j journal
	var g lifecycle.Group
	g.Add("a", nil, j.note("stop a"))
	g.Go("b", fails(errBroken), j.note("stop b"))
	g.Go("c", j.running("c"), nil)
	err := g.Run(t.Context())
	if !errors.Is(err, errBroken) || !strings.Contains(err.Error(), "b: broken") {
		t.Errorf("got %v", err)
	}
	if j.mu.Lock(); !slices.Equal(j.entries[len(j.entries)-2:], []string{"stop b", "stop a"}) {
		t.Errorf("got %q", j.entries)
	}
	j.mu.Unlock()
}

func TestFailingRunInterruptsAStart(t *testing.T) {
	t.Parallel()
	var g lifecycle.Group
	g.Go("a", fails(errBroken), nil)
	g.Add("b", func(ctx context.Context) error {
		<-ctx.Done()
		return fmt.Errorf("dial: %w", ctx.Err())
	}, nil)
	if err := g.Run(t.Context()); err == nil || err.Error() != "a: broken" {
		t.Errorf("got %v, want only the failure that began it", err)
	}
}

func TestCancelDuringStartIsNoFailure(t *testing.T) {
	t.Parallel()
	var j journal
	ctx, cancel := context.WithCancel(t.Context())
	var g lifecycle.Group
	g.Add("a", nil, j.note("stop a"))
	g.Add("b", func(ctx context.Context) error {
		cancel()
		<-ctx.Done()
		return ctx.Err()
	}, j.note("stop b"))
	g.Add("c", j.note("start c"), nil)
	if err := g.Run(ctx); err != nil {
		t.Errorf("got %v", err)
	}
	j.want(t, "stop a")
}

func TestRunThatFinishesStopsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var j journal
		var g lifecycle.Group
		g.Go("once", j.note("once"), nil)
		g.Go("long", j.running("long"), nil)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		began := time.Now()
		if err := g.Run(ctx); err != nil {
			t.Errorf("got %v", err)
		}
		if ran := time.Since(began); ran != time.Hour {
			t.Errorf("the group ran %s, want an hour", ran)
		}
		j.want(t, "once", "long ended")
	})
}

func TestErrorsOfStopAreJoined(t *testing.T) {
	t.Parallel()
	var g lifecycle.Group
	errOther := errors.New("other")
	g.Add("a", nil, fails(errOther))
	g.Go("b", func(ctx context.Context) error {
		<-ctx.Done()
		return errBroken // not the context's: it failed while stopping
	}, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := g.Run(ctx); err != nil {
		t.Errorf("nothing was started, so nothing fails: %v", err)
	}
	g.Add("c", func(context.Context) error { return errors.New("enough") }, nil)
	err := g.Run(t.Context())
	for _, want := range []string{"stop a: other", "b: broken", "start c: enough"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not say %q: %v", want, err)
		}
	}
}

func TestStopHasADeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var j journal
		g := lifecycle.Group{StopTimeout: 10 * time.Second}
		g.Add("last", nil, func(ctx context.Context) error {
			j.add("last told, context: %v", ctx.Err())
			return nil
		})
		g.Add("slow", nil, func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		})
		release := make(chan struct{})
		g.Go("deaf", func(context.Context) error {
			<-release
			return nil
		}, nil)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- g.Run(ctx) }()
		synctest.Wait()
		began := time.Now()
		cancel()
		err := <-done
		if took := time.Since(began); took < 10*time.Second || took > 12*time.Second {
			t.Errorf("stopping took %s, want the deadline of 10 s and a moment", took)
		}
		for _, want := range []string{"stop deaf: it still runs after the deadline", "stop slow: context deadline exceeded"} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("the error does not say %q: %v", want, err)
			}
		}
		j.want(t, "last told, context: context deadline exceeded")
		close(release)
	})
}

// A stop that only tells the part to end, as http.Server.Shutdown does, leaves the run its time to return.
func TestRunIsWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var j journal
		var g lifecycle.Group
		told := make(chan struct{})
		g.Go("server", func(context.Context) error {
			<-told
			<-time.After(3 * time.Second) // work that must not be cut, in the bubble's own time
			j.add("finished")
			return nil
		}, func(context.Context) error {
			close(told)
			return nil
		})
		done := make(chan error)
		ctx, cancel := context.WithCancel(t.Context())
		go func() { done <- g.Run(ctx) }()
		synctest.Wait()
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		j.want(t, "finished")
	})
}
