package agent

import (
	"context"
	"errors"
	"sync"

	"github.com/hecaton-dev/hecaton/pkg/process/obs"
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
	*parts
	places   *places
	table    *runTable
	leases   *leaseKeeper
	endDrain context.CancelFunc // ends parts.draining
	endStop  context.CancelFunc // ends parts.stopping

	adopting, renewing sync.WaitGroup // the goroutines of leases
}

// New checks the options and returns an Engine that Start sets to work.
func New(o Options) (*Engine, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	p := &parts{cfg: o.Config.withDefaults(), deps: o, log: obs.OrDiscard(o.Logger)}
	p.metrics = newMetrics(o.Metrics, p.cfg.MaxRuns)
	var err error
	if p.frames, err = newFrames(); err != nil {
		return nil, err
	}
	p.headStarts = make(chan struct{}, maxHeadStarts)
	p.models = modelClient{model: o.Model, metrics: p.metrics, tracing: o.Tracing}
	p.caller = toolCaller{metrics: p.metrics, tracing: o.Tracing, log: p.log}
	e := &Engine{parts: p, places: newPlaces(p.cfg)}
	p.draining, e.endDrain = context.WithCancel(context.Background())
	p.stopping, e.endStop = context.WithCancel(context.Background())
	e.table = newRunTable(p, e.places)
	e.leases = &leaseKeeper{parts: p, table: e.table, places: e.places, poked: make(chan store.Ref, pokes)}
	return e, nil
}

// Start begins to renew leases and to adopt runs whose pods are gone.
func (e *Engine) Start(context.Context) error {
	e.renewing.Go(e.leases.renewAll)
	e.adopting.Go(e.leases.adoptAll)
	return nil
}

// Stop lets other pods adopt all runs: requests to models are cut off, calls in progress may end within Config.CallGrace, or
// until ctx ends. When it returns nothing of the engine is left running.
func (e *Engine) Stop(ctx context.Context) error {
	e.places.close()
	e.endDrain()
	grace, cancel := context.WithTimeout(ctx, e.cfg.CallGrace)
	defer cancel()
	over := context.AfterFunc(grace, e.endStop)
	e.adopting.Wait()
	e.places.taken.Wait() // leases are renewed meanwhile
	over()
	e.endStop()
	e.renewing.Wait()
	return nil
}

// Active returns how many runs this pod works on.
func (e *Engine) Active() int { return len(e.table.leases()) }
