package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/load"
	"github.com/hecaton-dev/hecaton/services/e2e/bench/nodes"
	"github.com/hecaton-dev/hecaton/services/e2e/bench/proc"
)

// The ways that are compared.
const (
	wayRelay  = "bare relay"
	wayAcross = "across pods"
	wayLocal  = "caller's pod"
)

var ways = []string{wayRelay, wayAcross, wayLocal}

// point is one column of the table.
type point struct {
	// Size of a result in bytes.
	Size int
	// Workers is how many calls are open at once.
	Workers int
}

func (p point) String() string {
	if p.Size >= 1<<10 {
		return fmt.Sprintf("%d KiB, c=%d", p.Size>>10, p.Workers)
	}
	return fmt.Sprintf("%d B, c=%d", p.Size, p.Workers)
}

// figures are what one way did in one round, or the medians of all rounds.
type figures struct {
	P50, P99   time.Duration
	PerSecond  float64
	CPUPerCall time.Duration
	// Parts is CPUPerCall by process, in the order of parts.
	Parts [len(parts)]time.Duration
	// Calls is how many calls were made.
	Calls int
}

// series is one way at one point.
type series struct {
	Way    string
	Rounds []figures
	// Overall has the quantiles of all samples together, and the medians of the rounds for the rest.
	Overall figures
}

// parts are the processes whose CPU counts.
var parts = [...]string{"entry pod", "holder pod", "NATS"}

// way is how calls are made and who does the work.
type way struct {
	name string
	*caller
	workers [len(parts)]*proc.Child
}

// bench is a cluster with nodes and callers.
type bench struct {
	options
	*cluster
	fleet fleet
	ways  []way
}

// prepare connects nodes and callers.
func prepare(ctx context.Context, o options, c *cluster) (_ *bench, err error) {
	b := &bench{options: o, cluster: c}
	if err := c.startRelay(); err != nil {
		return nil, err
	}
	if b.fleet, err = c.nodes(); err != nil {
		return nil, err
	}
	for addr, dialect := range map[string]nodes.Dialect{c.holder.HTTP: nodes.Zeus, c.relayHolder.HTTP: nodes.Bare} {
		if _, err = b.fleet.connect(nodes.Plan{Addr: addr, Dialect: dialect, Count: nodeCount, PerUser: perUser}); err != nil {
			return nil, err
		}
	}
	relayed, err := callRelay(c.relayEntry.GRPC)
	if err != nil {
		return nil, err
	}
	ours := [...]*proc.Child{c.entry.Child, c.holder.Child, c.nats.Child}
	b.ways = append(b.ways, way{wayRelay, relayed, [...]*proc.Child{c.relayEntry.Child, c.relayHolder.Child, c.nats.Child}})
	for _, w := range []struct{ name, addr string }{{wayAcross, c.entry.GRPC}, {wayLocal, c.holder.GRPC}} {
		calls, err := callCluster(ctx, w.addr)
		if err != nil {
			return nil, errors.Join(err, b.close())
		}
		b.ways = append(b.ways, way{w.name, calls, ours})
	}
	return b, nil
}

// close ends the callers, not the cluster.
func (b *bench) close() error {
	var errs []error
	for _, w := range b.ways {
		errs = append(errs, w.caller.close())
	}
	return errors.Join(errs...)
}

// measure runs all rounds of one point.
func (b *bench) measure(ctx context.Context, p point) ([]series, error) {
	if err := b.fleet.answer(p.Size); err != nil {
		return nil, err
	}
	all := make([]series, len(b.ways))
	samples := make([][]time.Duration, len(b.ways))
	for round := range b.Rounds + 1 {
		for k := range b.ways {
			i := (k + round) % len(b.ways) // nobody always comes first
			if round == 0 {                // warms up and does not count
				if _, _, err := b.run(ctx, b.ways[i], p, b.Warmup); err != nil {
					return nil, err
				}
				continue
			}
			f, r, err := b.run(ctx, b.ways[i], p, b.Segment)
			if err != nil {
				return nil, err
			}
			all[i].Rounds = append(all[i].Rounds, f)
			samples[i] = append(samples[i], r.Samples...)
		}
	}
	for i, w := range b.ways {
		slices.Sort(samples[i])
		all[i].Way, all[i].Overall = w.name, overall(all[i].Rounds, samples[i])
	}
	return all, b.profiled(ctx, p)
}

// overall sums up rounds and all their samples, which are sorted.
func overall(rounds []figures, samples []time.Duration) figures {
	f := figures{
		P50: load.Quantile(samples, 0.50), P99: load.Quantile(samples, 0.99),
		PerSecond:  median(rounds, perSecond),
		CPUPerCall: time.Duration(median(rounds, cpuPerCall)),
		Calls:      len(samples),
	}
	for i := range f.Parts {
		f.Parts[i] = time.Duration(median(rounds, func(f figures) float64 { return float64(f.Parts[i]) }))
	}
	return f
}

func (b *bench) run(ctx context.Context, w way, p point, d time.Duration) (figures, load.Result, error) {
	before, err := cpu(w.workers)
	if err != nil {
		return figures{}, load.Result{}, err
	}
	r, err := load.Run(ctx, load.Job{Call: w.call, Workers: p.Workers, Size: p.Size, For: d, Calls: b.MaxCalls})
	if err != nil {
		return figures{}, r, fmt.Errorf("%s, %v: %w", w.name, p, err)
	}
	after, err := cpu(w.workers)
	f := figures{P50: r.Quantile(0.50), P99: r.Quantile(0.99), PerSecond: r.PerSecond(), Calls: len(r.Samples)}
	for i := range f.Parts {
		f.Parts[i] = (after[i] - before[i]) / time.Duration(f.Calls)
		f.CPUPerCall += f.Parts[i]
	}
	return f, r, err
}

// cpu returns what each process used so far.
func cpu(children [len(parts)]*proc.Child) (used [len(parts)]time.Duration, err error) {
	for i, c := range children {
		u, err := c.Usage()
		if err != nil {
			return used, err
		}
		used[i] = u.CPU
	}
	return used, nil
}

// profiled runs each way once more with profiles of the processes that do its work, if profiles were requested. These runs
// are not measured, since profiling costs a few per cent.
func (b *bench) profiled(ctx context.Context, p point) error {
	if b.Profiles == "" {
		return nil
	}
	for _, w := range b.ways {
		workers := make(map[string]*proc.Child)
		for i, c := range w.workers {
			workers[parts[i]] = c
		}
		stop, err := b.options.profile(workers, fmt.Sprintf("%s, %v", w.name, p))
		if err != nil {
			return err
		}
		_, _, err = b.run(ctx, w, p, b.ProfileFor)
		if err := errors.Join(err, stop()); err != nil {
			return err
		}
	}
	return nil
}

// median returns the middle of what value says of each item, the mean of both middles of an even number.
func median[T any](items []T, value func(T) float64) float64 {
	values := make([]float64, len(items))
	for i, item := range items {
		values[i] = value(item)
	}
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}
