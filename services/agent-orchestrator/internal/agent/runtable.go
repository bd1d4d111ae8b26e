package agent

import (
	"context"
	"sync"
	"time"

	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
)

// runTable has the runs that this pod works on, and starts and ends their goroutines. Its methods may be called from several
// goroutines.
type runTable struct {
	// static
	*parts
	places *places

	mu   sync.Mutex
	runs map[store.Ref]*run // guarded by mu
}

func newRunTable(p *parts, places *places) *runTable {
	return &runTable{parts: p, places: places, runs: make(map[store.Ref]*run)}
}

// launch starts to work on a run, for which a place was taken. If the pod has begun to stop meanwhile, the run's goroutine
// notices and releases the run.
func (t *runTable) launch(r *run, state store.State) {
	t.mu.Lock()
	old := t.runs[r.lease.Ref]
	t.runs[r.lease.Ref] = r
	t.mu.Unlock()
	if old != nil { // this pod has the session again before its former run has noticed that it lost the lease
		old.stop(store.ErrLeaseLost)
	}
	go func() {
		defer t.places.leave(r.lease.User)
		defer t.remove(r)
		r.work(state, func() { t.release(r) })
	}()
}

// abandon gives up a run that has not begun, and its place.
func (t *runTable) abandon(r *run) {
	go func() {
		defer t.places.leave(r.lease.User)
		r.close()
	}()
}

// release lets others adopt a run at once; if that fails, they do so when its lease is over.
func (t *runTable) release(r *run) {
	t.remove(r) // or its lease would be renewed again
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if err := t.deps.Leases.Release(ctx, []store.Lease{r.lease}); err != nil {
		t.log.Warn("a lease could not be released", "run", r.lease.Run, "error", err)
	}
}

func (t *runTable) remove(r *run) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.runs[r.lease.Ref] == r {
		delete(t.runs, r.lease.Ref)
	}
}

// get returns this pod's run of a session, or nil.
func (t *runTable) get(ref store.Ref) *run {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.runs[ref]
}

// leases returns those of all runs of this pod.
func (t *runTable) leases() []store.Lease {
	t.mu.Lock()
	defer t.mu.Unlock()
	leases := make([]store.Lease, 0, len(t.runs))
	for _, r := range t.runs {
		leases = append(leases, r.lease)
	}
	return leases
}
