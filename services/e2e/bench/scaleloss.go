package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/load"
)

// lossAfter is the part of the time after which the gateway dies.
const lossAfter = 10

// loss is what the death of one gateway did to all nodes' calls.
type loss struct {
	// Nodes were at the gateway, and were all at others when Returned was over. Retries are attempts to connect that failed.
	Nodes    int
	Returned time.Duration
	Retries  int
	// Calls went to all nodes meanwhile, in Latency; those that did not succeed are counted by what became of them.
	Calls   int
	Failed  map[string]int
	Latency quantiles
	// During is what the parts did, the gateway that died not counted.
	During stretch
}

// alive are the gateways that were not lost.
func (s *scaling) alive() []pod { return s.gateways[s.lost:] }

// lose kills the first gateway while calls go on, and waits until its nodes are at the others.
func (s *scaling) lose(ctx context.Context) (*loss, error) {
	fmt.Fprintln(s.log, "a gateway dies")
	dead := s.gateways[0]
	s.lost = 1
	var addrs []string
	for _, g := range s.alive() {
		addrs = append(addrs, g.HTTP)
	}
	if err := s.fleets[0].follow(addrs...); err != nil {
		return nil, err
	}
	calls, err := s.newCalls()
	if err != nil {
		return nil, err
	}
	defer calls.close()
	s.gauges.pods = s.alive()
	r := &loss{Nodes: s.Nodes / s.Gateways, Failed: make(map[string]int)}
	var mu sync.Mutex
	job := load.Steady{Rate: s.Rate, Size: smallResult, For: s.Loss, Call: func(ctx context.Context, i int) (int, error) {
		if _, err := calls.call(ctx, i); err != nil {
			mu.Lock()
			defer mu.Unlock()
			r.Failed[reason(err)]++
		}
		return smallResult, nil
	}}
	r.During, err = s.during(ctx, func() error {
		called := make(chan error, 1)
		go func() {
			result, err := load.RunSteady(ctx, job)
			r.Calls, r.Latency = len(result.Samples), quantilesOf(result.Samples)
			called <- err
		}()
		err := sleep(ctx, s.Loss/lossAfter)
		dead.Kill()
		back, lost := s.fleets[0].returned()
		r.Returned, r.Retries = back.Took, back.Retries
		return errors.Join(err, lost, <-called)
	})
	return r, err
}

// reason is what became of a call that was not answered.
func reason(err error) string {
	var e *errs.Error
	if errors.As(err, &e) {
		return string(e.Reason)
	}
	return err.Error()
}

func (l *loss) table() load.Table {
	t := load.Table{
		{"one gateway dies under load", ""},
		{"its nodes, all at others after", fmt.Sprintf("%d, %.1f s", l.Nodes, l.Returned.Seconds())},
		{"attempts to connect that failed", fmt.Sprint(l.Retries)},
		{"calls meanwhile: p50, p99, most, ms", fmt.Sprintf("%s, %s, %s", millis(l.Latency.P50), millis(l.Latency.P99), millis(l.Latency.Max))},
		{"calls in all", fmt.Sprint(l.Calls)},
	}
	for _, reason := range slices.Sorted(maps.Keys(l.Failed)) {
		t = append(t, []string{"  " + reason, fmt.Sprint(l.Failed[reason])})
	}
	return t
}
