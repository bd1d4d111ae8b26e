package bench

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/pkg/process/sleep"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/bench/calls"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/bench/faults"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/bench/fleet"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/bench/ledger"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/bench/plan"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/bench/report"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/bench/runs"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/bench/timeline"
)

// OptionsError says what is wrong with the options.
type OptionsError struct{ Err error }

func (e *OptionsError) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong.
func (e *OptionsError) Unwrap() error { return e.Err }

// bench is one run of the benchmark. It is for one goroutine; the parts that it shares are safe for several.
type bench struct {
	o     Options
	plan  *plan.Plan
	tag   string
	calls *ledger.Ledger
	steps *ledger.Ledger
	fleet *fleet.Fleet
	slow  *fleet.Slow
	way   calls.Way

	// Set once the nodes are connected.
	recorder *timeline.Recorder
	callers  *calls.Load
	runs     *runs.Load
}

// Run runs a bench to its end or until ctx ends; then no more calls begin, and Run waits for those in progress. The error
// says that the load could not begin, as an *[OptionsError] if the options are the reason; otherwise there is a report.
func Run(ctx context.Context, o Options) (*report.Report, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, &OptionsError{err}
	}
	o.Logger = obs.OrDiscard(o.Logger)
	b := &bench{o: o, plan: plan.New(o.Plan), tag: rand.Text()[:8], calls: ledger.New("call"), steps: ledger.New("step")}
	if b.way, err = b.newWay(); err != nil {
		return nil, &OptionsError{err}
	}
	defer b.way.Close()
	notes := &book{plan: b.plan, tag: b.tag, calls: b.calls, steps: b.steps}
	b.fleet = fleet.New(fleet.Options{
		Plan: b.plan, Servers: o.Servers, Token: o.Token, Book: notes, Tools: []string{calls.Tool, runs.Tool}, Logger: o.Logger,
	})
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	defer b.fleet.Wait()
	defer end()
	b.fleet.Start(life)
	if err := b.connect(ctx); err != nil {
		return nil, err
	}
	return b.load(ctx, life)
}

func (b *bench) newWay() (calls.Way, error) {
	rest := calls.NewREST(b.o.Servers, b.o.Token, b.o.Callers)
	if len(b.o.GRPC) == 0 {
		return rest, nil
	}
	direct, err := calls.NewGRPC(b.o.GRPC, b.o.Dial, b.o.Logger)
	if err != nil || !b.o.Both {
		return direct, err
	}
	return calls.Mix{rest, direct}, nil
}

// connect waits until all nodes are there.
func (b *bench) connect(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, b.o.Connect, fmt.Errorf("they had %v", b.o.Connect))
	defer cancel()
	p := b.progress(b.connecting)
	defer p.stop()
	return b.fleet.Ready(ctx)
}

// settle is how long Run waits for calls that still arrive at nodes after their callers have given up, before it compares
// the ledgers.
const settle = 500 * time.Millisecond

// load is the time in which calls are made. life is that of the nodes, which are there a while longer.
func (b *bench) load(ctx, life context.Context) (*report.Report, error) {
	b.recorder = timeline.New(time.Now())
	b.fleet.Watch(b.recorder.Reconnect)
	b.callers = calls.Start(life, calls.Options{
		Plan: b.plan, Tag: b.tag, Way: b.way, Ledger: b.calls, Recorder: b.recorder, Callers: b.o.Callers, Rate: b.o.Rate,
		Timeout: b.o.Timeout, Patience: b.o.Patience,
	})
	b.runs = runs.Start(life, runs.Options{
		Plan: b.plan, Tag: b.tag, Servers: b.o.Servers, Token: b.o.Token, Ledger: b.steps, Recorder: b.recorder,
		Sessions: b.o.Runs, Timeout: runTimeout,
	})
	b.slow = b.fleet.Slow(life, b.o.Slow)
	p := b.progress(b.status)
	var churn sync.WaitGroup
	churning, calm := context.WithCancel(ctx)
	if b.o.Plan.Churn > 0 {
		churn.Go(func() { b.fleet.Churn(churning) })
	}
	failed := b.pass(ctx)
	loaded := time.Since(b.recorder.Begin())
	calm()
	churn.Wait()
	b.callers.Stop(ctx)
	found := b.runs.Stop(ctx)
	slow := b.slow.Stop(ctx)
	sleep.For(life, settle)
	p.stop()
	return b.report(result{loaded: loaded, stopped: ctx, failed: failed, runs: found, slow: slow}), nil
}

// runTimeout is how long a run may take: several faults may happen to it.
const runTimeout = 3 * time.Minute

// pass lets the load go on as long as it shall, and the faults happen.
func (b *bench) pass(ctx context.Context) error {
	end := time.Now().Add(b.o.Duration)
	var failed error
	if len(b.o.Faults) > 0 {
		sleep.For(ctx, b.o.Calm)
		failed = faults.Run(ctx, b.o.Faults, watcher{b.recorder})
	}
	if failed == nil {
		sleep.For(ctx, time.Until(end))
	}
	return failed
}

// watcher enters faults into the timeline.
type watcher struct{ *timeline.Recorder }

func (w watcher) Enter(f faults.Fault)             { w.Recorder.Enter(f.Name, time.Now()) }
func (w watcher) Leave(faults.Fault)               { w.Recorder.Leave(time.Now()) }
func (w watcher) Mark(_ faults.Fault, step string) { w.Recorder.Mark(step, time.Now()) }
