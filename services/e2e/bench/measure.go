package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/load"
	"github.com/hecaton-dev/hecaton/services/e2e/bench/proc"
)

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

// way is how calls are made at a point, and who does the work.
type way struct {
	name string
	*caller
	workers [len(parts)][]*proc.Child
}

// measure runs all rounds of some points of a group, whose ways take turns.
func (b *bench) measure(ctx context.Context, g group, points []point) (columns []column, err error) {
	if err := b.ready(g, points); err != nil {
		return nil, err
	}
	type run struct {
		point
		way
		*series
	}
	var runs []run
	defer func() {
		for _, r := range runs {
			err = errors.Join(err, r.caller.close())
		}
	}()
	columns = make([]column, len(points))
	for i, p := range points {
		columns[i] = column{point: p, Series: make([]series, len(g.ways))}
		for k, name := range g.ways {
			w, err := b.way(ctx, name, p)
			if err != nil {
				return nil, fmt.Errorf("%s, %s: %w", name, p.name(), err)
			}
			s := &columns[i].Series[k]
			s.Way = name
			runs = append(runs, run{p, w, s})
		}
	}
	samples := make([][]time.Duration, len(runs))
	for round := range b.Rounds + 1 {
		for k := range runs {
			i := (k + round) % len(runs) // nobody always comes first
			r := runs[i]
			if round == 0 { // warms up and does not count
				if _, _, err := b.run(ctx, r.way, r.point, b.Warmup); err != nil {
					return nil, err
				}
				continue
			}
			f, result, err := b.run(ctx, r.way, r.point, b.Segment)
			if err != nil {
				return nil, err
			}
			r.Rounds = append(r.Rounds, f)
			samples[i] = append(samples[i], result.Samples...)
		}
	}
	for i, r := range runs {
		slices.Sort(samples[i])
		r.Overall = overall(r.Rounds, samples[i])
		if err := b.profiled(ctx, r.way, r.point); err != nil {
			return nil, err
		}
	}
	return columns, nil
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
	r, err := load.Run(ctx, load.Job{Call: w.call, Workers: p.Workers, Size: p.resultSize(), For: d, Calls: b.MaxCalls})
	if err != nil {
		return figures{}, r, fmt.Errorf("%s, %s: %w", w.name, p.name(), err)
	}
	after, err := cpu(w.workers)
	f := figures{P50: r.Quantile(0.50), P99: r.Quantile(0.99), PerSecond: r.PerSecond(), Calls: len(r.Samples)}
	for i := range f.Parts {
		f.Parts[i] = (after[i] - before[i]) / time.Duration(f.Calls)
		f.CPUPerCall += f.Parts[i]
	}
	return f, r, err
}

// cpu returns what the processes of each part used so far.
func cpu(children [len(parts)][]*proc.Child) (used [len(parts)]time.Duration, err error) {
	for i, part := range children {
		for _, c := range part {
			u, err := c.Usage()
			if err != nil {
				return used, err
			}
			used[i] += u.CPU
		}
	}
	return used, nil
}

// profiled has a way called once more with profiles of the processes that do its work, if profiles were requested. This is
// not measured, since profiling costs a few per cent.
func (b *bench) profiled(ctx context.Context, w way, p point) error {
	if b.Profiles == "" {
		return nil
	}
	workers := make(map[string]*proc.Child)
	for i, part := range w.workers {
		if len(part) > 0 {
			workers[parts[i]] = part[0] // of several alike
		}
	}
	stop, err := b.options.profile(workers, w.name+", "+p.name())
	if err != nil {
		return err
	}
	_, _, err = b.run(ctx, w, p, b.ProfileFor)
	return errors.Join(err, stop())
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
