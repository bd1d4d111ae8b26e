package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/load"
)

// lossAfter is the part of the time after which the gateway dies.
const lossAfter = 10

// loss is what the death of one gateway did to all nodes' calls.
type loss struct {
	// Nodes were at the gateway, and were at others when Returned was over, those that are Missing excepted. Retries are attempts to
	// connect that failed.
	Nodes, Missing int
	Returned       time.Duration
	Retries        int
	// The calls went to all nodes meanwhile.
	outcomes
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
	r := &loss{Nodes: s.Nodes / s.Gateways}
	r.During, err = s.during(ctx, func() error {
		called := make(chan error, 1)
		go func() {
			var err error
			r.outcomes, err = s.steadily(ctx, calls, s.Loss)
			called <- err
		}()
		err := sleep(ctx, s.Loss/lossAfter)
		dead.Kill()
		back, lost := s.fleets[0].returned()
		r.Returned, r.Retries, r.Missing = back.Took, back.Retries, back.Missing
		if back.Missing > 0 {
			s.note("nodes of the gateway that died", errors.New(back.Why))
		}
		return errors.Join(err, lost, <-called)
	})
	return r, err
}

func (l *loss) table() load.Table {
	t := load.Table{
		{"one gateway dies under load", ""},
		{"its nodes, at others after", fmt.Sprintf("%d, %.1f s", l.Nodes-l.Missing, l.Returned.Seconds())},
		{"nodes that are missing", fmt.Sprint(l.Missing)},
		{"attempts to connect that failed", fmt.Sprint(l.Retries)},
		{"calls meanwhile: p50, p99, most, ms", fmt.Sprintf("%s, %s, %s", millis(l.Latency.P50), millis(l.Latency.P99), millis(l.Latency.Max))},
		{"calls in all", fmt.Sprint(l.Calls)},
	}
	return append(t, l.failures()...)
}
