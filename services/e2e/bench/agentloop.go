package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/load"
	"github.com/hecaton-dev/hecaton/services/e2e/bench/proc"
)

// agentCase is what is asked of the loops.
type agentCase struct {
	Name    string
	Message string
	// Steps is how many calls a run makes. If there are any, the time from one result to the next is measured: the model is
	// asked, its answer streamed, the call stored and run. Without calls it is the time of a whole run.
	Steps int
	// Pace of the model.
	Pace time.Duration
}

const (
	stepsOfRun = 6
	noToolCall = "call " + noTool + " {}"
	nodeCall   = "call " + tool + " " + arguments
)

func agentCases() []agentCase {
	steps := func(call string) string { return call + strings.Repeat(" then "+call, stepsOfRun-1) }
	const words = "say 20 words"
	const pace = 2 * time.Millisecond
	return []agentCase{
		{"run of 20 words", words, 0, 0},
		{"step, built-in tool", steps(noToolCall), stepsOfRun, 0},
		{"step, tool of a node", steps(nodeCall), stepsOfRun, 0},
		{"run, 2 ms a token", words, 0, pace},
		{"step, 2 ms a token", steps(noToolCall), stepsOfRun, pace},
	}
}

// agentFigures are what one way did in one round, or over all rounds.
type agentFigures struct {
	P50, P99 time.Duration
	// CPU of the pod that runs the agent, per run.
	CPU     time.Duration
	Samples int
}

// agentSeries is one way in one case.
type agentSeries struct {
	Way     string
	Rounds  []agentFigures
	Overall agentFigures
}

// agentColumn is one case.
type agentColumn struct {
	Case   string
	Series []agentSeries
}

// measureLoops lets the loops take turns at one run at a time.
func (a *agents) measureLoops(ctx context.Context, o options, r *agentReport) error {
	ways := append([]*agentPod{a.bare}, a.ours...)
	for _, c := range agentCases() {
		if err := a.pace(c.Pace); err != nil {
			return err
		}
		column, err := a.measureLoop(ctx, c, ways)
		if err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
		r.Loops = append(r.Loops, column)
		if err := a.profileLoops(ctx, o, c, ways); err != nil {
			return err
		}
	}
	return a.pace(0)
}

func (a *agents) measureLoop(ctx context.Context, c agentCase, ways []*agentPod) (agentColumn, error) {
	column := agentColumn{Case: c.Name, Series: make([]agentSeries, len(ways))}
	samples := make([][]time.Duration, len(ways))
	for round := range a.Rounds + 1 {
		for k := range ways {
			i := (k + round) % len(ways)
			f, s, err := a.repeat(ctx, ways[i], c, a.Segment)
			if err != nil {
				return column, err
			}
			if round == 0 { // warms up and does not count
				continue
			}
			column.Series[i].Rounds = append(column.Series[i].Rounds, f)
			samples[i] = append(samples[i], s...)
		}
	}
	for i, p := range ways {
		s := &column.Series[i]
		s.Way, s.Overall = p.name, sumUp(samples[i])
		s.Overall.CPU = time.Duration(median(s.Rounds, agentCPU))
	}
	return column, nil
}

// repeat runs a case again and again.
func (a *agents) repeat(ctx context.Context, p *agentPod, c agentCase, d time.Duration) (agentFigures, []time.Duration, error) {
	before, err := p.Usage()
	if err != nil {
		return agentFigures{}, nil, err
	}
	var samples []time.Duration
	runs := 0
	for end := time.Now().Add(d); time.Now().Before(end); runs++ {
		h, err := a.invoke(ctx, p, c.Message, nil)
		if err != nil {
			return agentFigures{}, nil, err
		}
		if h.finish != "stop" || len(h.results) != c.Steps {
			return agentFigures{}, nil, fmt.Errorf("%s: a run ended with %q after %d results, want %d", p.name, h.finish, len(h.results), c.Steps)
		}
		if c.Steps == 0 {
			samples = append(samples, h.took())
		}
		for i := 1; i < len(h.results); i++ {
			samples = append(samples, h.results[i].Sub(h.results[i-1]))
		}
	}
	after, err := p.Usage()
	if err != nil {
		return agentFigures{}, nil, err
	}
	f := sumUp(samples)
	f.CPU = (after.CPU - before.CPU) / time.Duration(runs)
	return f, samples, nil
}

// sumUp sorts samples.
func sumUp(samples []time.Duration) agentFigures {
	slices.Sort(samples)
	return agentFigures{P50: load.Quantile(samples, 0.50), P99: load.Quantile(samples, 0.99), Samples: len(samples)}
}

// profileLoops runs each way once more with a profile of its pod, where that was asked for.
func (a *agents) profileLoops(ctx context.Context, o options, c agentCase, ways []*agentPod) error {
	if o.Profiles == "" || c.Pace > 0 {
		return nil
	}
	for _, p := range ways {
		stop, err := o.profile(map[string]*proc.Child{p.name: p.Child}, "agents, "+c.Name)
		if err != nil {
			return err
		}
		_, _, err = a.repeat(ctx, p, c, o.ProfileFor)
		if err := errors.Join(err, stop()); err != nil {
			return err
		}
	}
	return nil
}
