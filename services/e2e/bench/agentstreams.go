package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/load"
	"github.com/hecaton-dev/hecaton/services/e2e/bench/proc"
)

// streamFigures are what one way did with many streams at once.
type streamFigures struct {
	// Tokens is how many there were a second, from the first request to the end of the last stream.
	Tokens float64
	// P50 and P99 are the times between two pieces of text of one stream; a piece has one token, or several if a reader was
	// slow.
	P50, P99 time.Duration
	// PerPiece is how many tokens a piece had.
	PerPiece float64
	// First is the median time to the first token.
	First time.Duration
	// CPU of the orchestrator, and of the model, per token.
	CPU, ModelCPU time.Duration
}

// streamSeries is one way.
type streamSeries struct {
	Way    string
	Rounds []streamFigures
}

// streamOne runs one stream to its end.
type streamOne func(ctx context.Context, first func()) (*heard, error)

// streamers returns what each way runs.
func (a *agents) streamers(words int) (names []string, starts []func() streamOne) {
	message := fmt.Sprintf("say %d words", words)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: a.Streams, DisableCompression: true}}
	names = append(names, wayDirect)
	starts = append(starts, func() streamOne {
		request := a.direct(message)
		return func(ctx context.Context, first func()) (*heard, error) {
			req, err := request(ctx)
			if err != nil {
				return nil, err
			}
			return readStream(client, req, modelText, first)
		}
	})
	for _, p := range a.ours {
		names = append(names, p.name)
		starts = append(starts, func() streamOne {
			session := a.newSession()
			return func(ctx context.Context, first func()) (*heard, error) {
				h, err := invoke(ctx, p, session, message, nil, first)
				if err == nil && h.finish != "stop" {
					err = fmt.Errorf("%s: a run ended with %q", p.name, h.finish)
				}
				return h, err
			}
		})
	}
	return names, starts
}

// measureStreams lets the ways take turns at many streams at once.
func (a *agents) measureStreams(ctx context.Context, o options, r *agentReport) error {
	if err := a.pace(a.StreamPace); err != nil {
		return err
	}
	names, starts := a.streamers(a.Words)
	series := make([]streamSeries, len(names))
	for round := range a.StreamRounds {
		for k := range names {
			i := (k + round) % len(names)
			f, err := a.streamAll(ctx, i, starts[i])
			if err != nil {
				return err
			}
			series[i].Way = names[i]
			series[i].Rounds = append(series[i].Rounds, f)
		}
	}
	r.Streams = &streamReport{Count: a.Streams, Words: a.Words, Pace: a.StreamPace, Series: series}
	if o.Profiles != "" {
		for i, p := range a.ours {
			stop, err := o.profile(map[string]*proc.Child{"orchestrator": p.Child}, "agents, streams, "+p.name)
			if err != nil {
				return err
			}
			_, err = a.streamAll(ctx, i+1, starts[i+1])
			if err := errors.Join(err, stop()); err != nil {
				return err
			}
		}
	}
	return a.pace(0)
}

// streamAll runs all streams of way i.
func (a *agents) streamAll(ctx context.Context, i int, start func() streamOne) (f streamFigures, err error) {
	workers := []*proc.Child{a.model.Child}
	if i > 0 {
		workers = append(workers, a.ours[i-1].Child)
	}
	before, err := cpuEach(workers)
	if err != nil {
		return f, err
	}
	began := time.Now()
	streams, err := a.atOnce(ctx, start, nil)
	if err != nil {
		return f, err
	}
	took := time.Since(began)
	after, err := cpuEach(workers)
	if err != nil {
		return f, err
	}
	var gaps, firsts []time.Duration
	pieces := 0
	for _, h := range streams {
		firsts = append(firsts, h.pieces[0].Sub(h.began))
		pieces += len(h.pieces)
		for i := 1; i < len(h.pieces); i++ {
			gaps = append(gaps, h.pieces[i].Sub(h.pieces[i-1]))
		}
	}
	slices.Sort(gaps)
	slices.Sort(firsts)
	tokens := a.Words * len(streams)
	f = streamFigures{
		Tokens: float64(tokens) / took.Seconds(), P50: load.Quantile(gaps, 0.50), P99: load.Quantile(gaps, 0.99),
		PerPiece: float64(tokens) / float64(pieces), First: load.Quantile(firsts, 0.50),
		ModelCPU: (after[0] - before[0]) / time.Duration(tokens),
	}
	if i > 0 {
		f.CPU = (after[1] - before[1]) / time.Duration(tokens)
	}
	return f, nil
}

func cpuEach(children []*proc.Child) ([]time.Duration, error) {
	used := make([]time.Duration, len(children))
	for i, c := range children {
		u, err := c.Usage()
		if err != nil {
			return nil, err
		}
		used[i] = u.CPU
	}
	return used, nil
}

// atOnce runs a.Streams streams at once. If all is not nil, it is called once text has arrived on each.
func (a *agents) atOnce(ctx context.Context, start func() streamOne, all func() error) ([]*heard, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	streams := make([]*heard, a.Streams)
	var running, waiting sync.WaitGroup
	waiting.Add(a.Streams)
	for i := range streams {
		run := start()
		running.Go(func() {
			var once sync.Once
			begun := func() { once.Do(waiting.Done) }
			defer begun()
			h, err := run(ctx, begun)
			if err != nil {
				cancel(err)
			}
			streams[i] = h
		})
	}
	if all != nil {
		waiting.Wait()
		if err := all(); err != nil {
			cancel(err)
		}
	}
	running.Wait()
	return streams, context.Cause(ctx)
}
