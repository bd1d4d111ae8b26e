package lifecycle

import (
	"context"
	"errors"
	"sync"
	"time"
)

// ErrDraining is the failing condition of a pod that shuts down.
var ErrDraining = errors.New("draining")

// ErrNotYet is the state of a condition that nobody has set.
var ErrNotYet = errors.New("not yet")

// Ready says whether this pod should get new work: every named condition holds and nobody drains it. It is safe for
// concurrent use; the zero value has no conditions and is ready.
type Ready struct {
	mu      sync.Mutex
	drained time.Time                              // guarded by mu; when Drain was called, zero before
	states  map[string]error                       // guarded by mu
	checks  map[string]func(context.Context) error // guarded by mu
}

// NewReady returns a Ready whose conditions are all still to be met.
func NewReady(conditions ...string) *Ready {
	r := &Ready{}
	for _, name := range conditions {
		r.Set(name, ErrNotYet)
	}
	return r
}

// Set records the state of a condition; nil means that it holds.
func (r *Ready) Set(name string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.states == nil {
		r.states = map[string]error{}
	}
	r.states[name] = err
}

// Watch adds a condition that is asked whenever readiness is. The check must heed its context and may run concurrently
// with itself.
func (r *Ready) Watch(name string, check func(ctx context.Context) error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.checks == nil {
		r.checks = map[string]func(context.Context) error{}
	}
	r.checks[name] = check
}

// Drain makes the pod unready for good.
func (r *Ready) Drain() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.drained.IsZero() {
		r.drained = time.Now()
	}
}

// Linger returns once the pod has been draining for d, or ctx ends. Load balancers need a moment to see that a pod is not
// ready, and send it requests until then (docs/architecture.md#drain).
func (r *Ready) Linger(ctx context.Context, d time.Duration) {
	r.Drain()
	r.mu.Lock()
	left := time.Until(r.drained.Add(d))
	r.mu.Unlock()
	if left <= 0 {
		return
	}
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// Draining reports whether Drain was called.
func (r *Ready) Draining() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.drained.IsZero()
}

// Failing returns the conditions that do not hold, by name; none means ready. Draining counts as the condition "drain".
// The watched ones are asked all at once, under ctx.
func (r *Ready) Failing(ctx context.Context) map[string]error {
	failing := map[string]error{}
	var mu sync.Mutex // of failing
	var asked sync.WaitGroup

	r.mu.Lock()
	for name, err := range r.states {
		if err != nil {
			failing[name] = err
		}
	}
	if !r.drained.IsZero() {
		failing["drain"] = ErrDraining
	}
	for name, check := range r.checks {
		asked.Go(func() {
			if err := check(ctx); err != nil {
				mu.Lock()
				defer mu.Unlock()
				failing[name] = err
			}
		})
	}
	r.mu.Unlock()

	asked.Wait()
	return failing
}
