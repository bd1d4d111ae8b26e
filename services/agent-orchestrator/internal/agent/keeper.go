package agent

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/process/sleep"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
)

// adoptAtOnce is how many runs are adopted in one look: a pod that died leaves its runs to all the others.
const adoptAtOnce = 16

// keep renews the leases of this pod's runs, also while it stops.
func (e *Engine) keep() {
	tick := time.NewTicker(e.cfg.LeaseFor / 3)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			_ = e.renew(e.kill, e.leases())
		case ref := <-e.poked:
			if r := e.local(ref); r != nil {
				_ = e.renew(e.kill, []store.Lease{r.lease})
			}
		case <-e.kill.Done():
			return
		}
	}
}

// leases are those of all runs of this pod.
func (e *Engine) leases() []store.Lease {
	e.mu.Lock()
	defer e.mu.Unlock()
	leases := make([]store.Lease, 0, len(e.runs))
	for _, r := range e.runs {
		leases = append(leases, r.lease)
	}
	return leases
}

// renew renews leases, and stops the runs that are not to go on. Where that cannot be found out the runs go on: whatever they
// write, the store knows whether they still may.
func (e *Engine) renew(ctx context.Context, leases []store.Lease) error {
	if len(leases) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, e.cfg.LeaseFor)
	defer cancel()
	lost, cancelled, err := e.deps.Leases.Renew(ctx, e.cfg.Owner, e.cfg.LeaseFor, leases)
	if err != nil {
		e.metrics.unrenewed.Inc()
		e.log.Warn("leases are not renewed", "runs", len(leases), "error", err)
		return err
	}
	e.tell(lost, store.ErrLeaseLost)
	e.tell(cancelled, errCancelled)
	return nil
}

// tell stops the runs of leases.
func (e *Engine) tell(leases []store.Lease, why error) {
	for _, lease := range leases {
		if r := e.local(lease.Ref); r != nil && r.lease.Token == lease.Token {
			r.stop(why)
		}
	}
}

// adopt looks for runs whose pods are gone, at once and then every AdoptEvery, with a jitter that spreads the pods.
func (e *Engine) adopt() {
	for {
		for e.drain.Err() == nil && e.adoptSome() == adoptAtOnce {
		}
		if !sleep.For(e.drain, e.cfg.AdoptEvery/2+rand.N(e.cfg.AdoptEvery)) {
			return
		}
	}
}

// adoptSome adopts what it finds, as far as there are places, and says how many runs that were.
func (e *Engine) adoptSome() int {
	e.mu.Lock()
	limit := min(adoptAtOnce, e.cfg.MaxRuns-e.places)
	e.mu.Unlock()
	if limit <= 0 {
		return 0
	}
	// The pod's own end does not cut this: what was adopted must be known, to be released.
	ctx, cancel := context.WithTimeout(context.Background(), e.cfg.LeaseFor)
	defer cancel()
	adopted, err := e.deps.Leases.Adopt(ctx, e.cfg.Owner, e.cfg.LeaseFor, limit)
	if err != nil {
		e.log.Warn("no run can be adopted", "error", err)
	}
	for _, a := range adopted {
		e.metrics.adoptions.Inc()
		r := newRun(e, a.Lease, e.settingsOf(a))
		r.log.InfoContext(r.hold, "run adopted", "steps", a.State.Run.Steps)
		e.mu.Lock()
		e.place(r.lease.User) // also where requests took the last ones meanwhile
		e.mu.Unlock()
		e.launch(r, a.State)
	}
	return len(adopted)
}

// settingsOf returns nil where they cannot be read: then the run itself says so, when it begins.
func (e *Engine) settingsOf(a store.Adopted) *settings {
	s, err := e.unseal(a.Lease.User, a.State.Run.Settings)
	if err != nil {
		return nil
	}
	return &s
}
