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

// pokes is how many requests to look at one run may wait; the next renewal looks at the runs for which there was no room.
const pokes = 64

// leaseKeeper renews the leases of this pod's runs, and adopts runs whose pods are gone. Two goroutines of the Engine work on
// it: one in renewAll, one in adoptAll.
type leaseKeeper struct {
	// static
	*parts
	table  *runTable
	places *places
	poked  chan store.Ref // sessions whose run somebody may have cancelled
}

// poke has a session's lease renewed now, which shows whether the run was cancelled. It does not block.
func (k *leaseKeeper) poke(ref store.Ref) {
	if k.table.get(ref) == nil {
		return
	}
	select {
	case k.poked <- ref:
	default:
	}
}

// renewAll renews the leases of this pod's runs until stopping ends: also while the pod drains.
func (k *leaseKeeper) renewAll() {
	tick := time.NewTicker(k.cfg.LeaseFor / 3)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			k.renew(k.table.leases())
		case ref := <-k.poked:
			if r := k.table.get(ref); r != nil {
				k.renew([]store.Lease{r.lease})
			}
		case <-k.stopping.Done():
			return
		}
	}
}

// renew renews leases, and stops the runs that were taken over or cancelled. If the store does not answer the runs go on:
// whatever they write, the store knows whether they still may.
func (k *leaseKeeper) renew(leases []store.Lease) {
	if len(leases) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(k.stopping, k.cfg.LeaseFor)
	defer cancel()
	lost, cancelled, err := k.deps.Leases.Renew(ctx, k.cfg.Owner, k.cfg.LeaseFor, leases)
	if err != nil {
		k.metrics.unrenewed.Inc()
		k.log.Warn("leases could not be renewed", "runs", len(leases), "error", err)
		return
	}
	k.stop(lost, store.ErrLeaseLost)
	k.stop(cancelled, errCancelled)
}

// stop stops the runs of leases.
func (k *leaseKeeper) stop(leases []store.Lease, why error) {
	for _, lease := range leases {
		if r := k.table.get(lease.Ref); r != nil && r.lease.Token == lease.Token {
			r.stop(why)
		}
	}
}

// adoptAll looks for runs whose pods are gone, at once and then every AdoptEvery, with a jitter that spreads the pods.
func (k *leaseKeeper) adoptAll() {
	for {
		for k.draining.Err() == nil && k.adopt() == adoptAtOnce {
		}
		if !sleep.For(k.draining, k.cfg.AdoptEvery/2+rand.N(k.cfg.AdoptEvery)) {
			return
		}
	}
}

// adopt adopts what it finds, as long as there are places, and returns how many runs that were.
func (k *leaseKeeper) adopt() int {
	limit := min(adoptAtOnce, k.places.free())
	if limit <= 0 {
		return 0
	}
	// The end of the pod does not cut this short: what was adopted must be known, so that it can be released.
	ctx, cancel := context.WithTimeout(context.Background(), k.cfg.LeaseFor)
	defer cancel()
	adopted, err := k.deps.Leases.Adopt(ctx, k.cfg.Owner, k.cfg.LeaseFor, limit)
	if err != nil {
		k.log.Warn("runs could not be adopted", "error", err)
	}
	for _, a := range adopted {
		k.metrics.adoptions.Inc()
		r := newRun(k.parts, a.Lease, k.settingsOf(a))
		r.log.InfoContext(r.leased, "run adopted", "steps", a.State.Run.Steps)
		k.places.take(r.lease.User) // also if requests took the last ones meanwhile
		k.table.launch(r, a.State)
	}
	return len(adopted)
}

// settingsOf returns nil if they cannot be read: then the run itself ends with that error, when it begins.
func (k *leaseKeeper) settingsOf(a store.Adopted) *settings {
	s, err := openSettings(k.deps.Sealer, a.Lease.User, a.State.Run.Settings)
	if err != nil {
		return nil
	}
	return &s
}
