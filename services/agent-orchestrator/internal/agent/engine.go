package agent

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/pkg/refusal"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
)

// Why the contexts of a run end.
var (
	errCancelled = errors.New("agent: the run was cancelled")
	errDraining  = errors.New("agent: the pod stops")
)

// Started is a run whose events can be followed.
type Started struct {
	store.Ref
	Run string
	// After is the number of the last event before those of this invoke or resume.
	After int64
	// Before says that another invoke with the same idempotency key has begun it.
	Before bool
}

// Engine runs the agents of one pod. Its methods may be called from several goroutines.
type Engine struct {
	// static after construction
	cfg     Config
	deps    Deps
	log     *slog.Logger
	metrics *metrics

	// drain ends first when the pod stops: no answer of a model and no new call goes on. kill ends CallGrace later: calls
	// that are in progress end too.
	drain, kill       context.Context
	endDrain, endKill context.CancelFunc

	adopting, running, keeping sync.WaitGroup // Stop waits for them in this order

	poked chan store.Ref // sessions whose run's end somebody may have asked for

	mu     sync.Mutex
	runs   map[store.Ref]*run // guarded by mu
	places int                // of MaxRuns that are taken; guarded by mu
	users  map[ids.UserID]int // whose places they are; guarded by mu
	closed bool               // guarded by mu
}

// New returns an Engine that Start sets to work.
func New(cfg Config, deps Deps) *Engine {
	e := &Engine{cfg: cfg.withDefaults(), deps: deps, poked: make(chan store.Ref, pokes), runs: make(map[store.Ref]*run), users: make(map[ids.UserID]int)}
	e.log = obs.OrDiscard(deps.Logger)
	e.metrics = newMetrics(deps.Metrics, e.cfg.MaxRuns)
	e.drain, e.endDrain = context.WithCancel(context.Background())
	e.kill, e.endKill = context.WithCancel(context.Background())
	return e
}

// Start begins to renew leases and to adopt runs whose pods are gone.
func (e *Engine) Start(context.Context) error {
	e.keeping.Go(e.keep)
	e.adopting.Go(e.adopt)
	return nil
}

// Stop lets go of all runs, so that other pods adopt them: answers of models are cut, calls in progress may end within
// Config.CallGrace, or until ctx ends. When it returns nothing of the engine is left running.
func (e *Engine) Stop(ctx context.Context) error {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.endDrain()
	grace, cancel := context.WithTimeout(ctx, e.cfg.CallGrace)
	defer cancel()
	over := context.AfterFunc(grace, e.endKill)
	e.adopting.Wait()
	e.running.Wait() // leases are renewed meanwhile
	over()
	e.endKill()
	e.keeping.Wait()
	return nil
}

// Active returns how many runs this pod works on.
func (e *Engine) Active() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.runs)
}

// reserve takes a place among MaxRuns, for launch, abandon or leave. Stop waits for who has one. full says that
// this pod alone has as many runs of the user as one may have.
func (e *Engine) reserve(user ids.UserID) (full bool, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return false, refusal.New(refusal.Unavailable, "this pod is stopping")
	}
	if e.places >= e.cfg.MaxRuns {
		return false, refusal.New(refusal.Unavailable, "this pod has as many runs as it may have")
	}
	e.place(user)
	// The store counts what has begun; of what is about to begin here it knows nothing yet.
	return e.cfg.RunsPerUser > 0 && e.users[user] > e.cfg.RunsPerUser, nil
}

// place takes a place for a run of user, with mu held.
func (e *Engine) place(user ids.UserID) {
	e.places++
	e.users[user]++
	e.running.Add(1)
}

// leave gives a place back.
func (e *Engine) leave(user ids.UserID) {
	e.mu.Lock()
	e.places--
	if e.users[user]--; e.users[user] == 0 {
		delete(e.users, user)
	}
	e.mu.Unlock()
	e.running.Done()
}

// launch starts to work on a run, for which a place was reserved. Where the pod has begun to stop meanwhile, the run's
// goroutine is the one that lets go of it.
func (e *Engine) launch(r *run, state store.State) {
	e.mu.Lock()
	old := e.runs[r.lease.Ref]
	e.runs[r.lease.Ref] = r
	e.mu.Unlock()
	if old != nil { // the session is ours again before its former run has noticed that it lost it
		old.stop(store.ErrLeaseLost)
	}
	go func() {
		defer e.leave(r.lease.User)
		defer e.ended(r)
		r.live(state)
	}()
}

// abandon gives up a run that has not begun, and its place.
func (e *Engine) abandon(r *run) {
	go func() {
		defer e.leave(r.lease.User)
		r.close()
	}()
}

func (e *Engine) ended(r *run) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.runs[r.lease.Ref] == r {
		delete(e.runs, r.lease.Ref)
	}
}

// local returns this pod's run of a session, or nil.
func (e *Engine) local(ref store.Ref) *run {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.runs[ref]
}

// release lets others adopt a run at once; where that fails they do so when its lease is over.
func (e *Engine) release(lease store.Lease) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if err := e.deps.Leases.Release(ctx, []store.Lease{lease}); err != nil {
		e.log.Warn("a lease is not released", "run", lease.Run, "error", err)
	}
}
