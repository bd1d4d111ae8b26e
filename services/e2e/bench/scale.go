package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/load"
	"github.com/hecaton-dev/hecaton/services/e2e/bench/nodes"
	"github.com/hecaton-dev/hecaton/services/e2e/bench/proc"
)

// scaleOptions say how much of scale to measure; without Nodes nothing is.
type scaleOptions struct {
	// Nodes stand at so many Gateways, each with an equal part, and send a heartbeat at each interval of Beat.
	Nodes, Gateways int
	Beat            time.Duration
	shape
	// Idle is how long they are looked at while nobody calls them, Calls the same with Rate calls a second, Visits how long
	// other nodes then come and go beside both.
	Idle, Calls, Visits time.Duration
	// Loss is how long calls go on while one gateway dies, where there are more than two.
	Loss time.Duration
	Rate float64
	// Visitors is how many come and go at once.
	Visitors int
}

// scale is what many idle nodes cost each part of a cluster, and how soon the other parts learn of a change.
type scale struct {
	Nodes, Gateways, Registries, Shards int
	Beat                                time.Duration
	Rate                                float64
	// Quiet is what memory grew by per node once the nodes had been quiet for some time, by process; Collected the same after
	// a garbage collection. A gateway's is per node of its own, the mean of all.
	Quiet, Collected map[string]memory
	// Redis is what its data and its process grew by per node, in bytes; nil without a redis-server.
	Redis *redisGrowth `json:",omitempty"`
	// Idle is a time without calls, Calls one with them. In Coming all nodes came, in Going all that were left were lost at once.
	Idle, Calls, Coming, Going stretch
	// Latency is that of the calls; each was made through the gateway that does not hold the node.
	Latency quantiles
	Lag     []lag
	// Lost is what the death of a gateway did, where there are more than two.
	Lost  *loss `json:",omitempty"`
	Route interest
}

// redisGrowth is per node, in bytes.
type redisGrowth struct{ Used, RSS float64 }

// The processes whose use is counted.
const (
	partGateways = "gateways"
	partRegistry = "registry"
	partNATS     = "NATS"
	partRedis    = "Redis"
	// partNodes are the simulated nodes, which are no part of a cluster; they share its machine.
	partNodes = "simulated nodes"
)

var scaleParts = []string{partGateways, partRegistry, partNATS, partRedis, partNodes}

// scaling is a run of it.
type scaling struct {
	*cluster
	scaleOptions
	gateways []pod
	fleets   []fleet
	gauges   gauges
	lost     int // how many of the first gateways are dead
}

// measureScale runs every part of it.
func (c *cluster) measureScale(ctx context.Context, o options) (r scale, err error) {
	s := &scaling{cluster: c, scaleOptions: o.Scale}
	r.Nodes, r.Gateways, r.Registries, r.Shards, r.Beat, r.Rate = s.Nodes, s.Gateways, s.Registries, s.Shards, s.Beat, s.Rate
	if err := checkLimits(s.Nodes / max(2, s.Gateways-1)); err != nil { // one gateway is lost
		return r, err
	}
	if err := s.start(ctx); err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, s.gauges.close()) }()
	if err := s.fill(ctx, o, &r); err != nil {
		return r, err
	}
	stop, err := o.profile(s.children(), "scale idle")
	if err != nil {
		return r, err
	}
	r.Idle, err = s.during(ctx, func() error { return sleep(ctx, s.Idle) })
	if err := errors.Join(err, stop()); err != nil {
		return r, err
	}
	if err := s.call(ctx, o, &r); err != nil {
		return r, err
	}
	if s.Gateways > 2 {
		if r.Lost, err = s.lose(ctx); err != nil {
			return r, err
		}
	}
	if err := s.leave(ctx, &r); err != nil {
		return r, err
	}
	fmt.Fprintln(c.log, "interest between two NATS servers")
	r.Route, err = c.measureInterest(ctx, s.Nodes)
	return r, err
}

func (s *scaling) start(ctx context.Context) (err error) {
	for i := range s.Gateways {
		g, err := s.gateway(fmt.Sprintf("scale-%d", i), "")
		if err != nil {
			return err
		}
		s.gateways = append(s.gateways, g)
	}
	if s.gauges, err = s.newGauges(s.gateways...); err != nil {
		return err
	}
	return s.warm(ctx, min(warmNodes, s.Nodes/s.Gateways), s.gateways...)
}

// fill connects the nodes and looks at memory before and after.
func (s *scaling) fill(ctx context.Context, o options, r *scale) error {
	base, err := s.memory(ctx, true)
	if err != nil {
		return err
	}
	if r.Coming, err = s.during(ctx, s.come); err != nil {
		return err
	}
	fmt.Fprintf(s.log, "%d nodes are there\n", s.Nodes)
	if err := sleep(ctx, o.Settle); err != nil {
		return err
	}
	quiet, err := s.memory(ctx, false)
	if err != nil {
		return err
	}
	end, err := s.memory(ctx, true)
	if err != nil {
		return err
	}
	r.Quiet, r.Collected = perNode(base, quiet, s.Nodes), perNode(base, end, s.Nodes)
	if end.redis != nil {
		n := float64(s.Nodes)
		r.Redis = &redisGrowth{float64(end.redis.used-base.redis.used) / n, float64(end.redis.rss-base.redis.rss) / n}
	}
	if o.Profiles != "" {
		return s.gateways[0].Do("HeapProfile", o.profilePath("scale heap"))
	}
	return nil
}

// come connects all nodes, one gateway's after the other's, and has them send heartbeats.
func (s *scaling) come() error {
	each := s.Nodes / s.Gateways
	for i, g := range s.gateways {
		f, err := s.nodes()
		if err != nil {
			return err
		}
		s.fleets = append(s.fleets, f)
		s.gauges.fleets = s.fleets
		if err := f.answer(smallResult); err != nil {
			return err
		}
		plan := nodes.Plan{Addr: g.HTTP, Dialect: nodes.Zeus, Count: each, PerUser: idlePerUser, First: i * each}
		if _, err := f.connect(plan); err != nil {
			return err
		}
		if err := f.beat(s.Beat); err != nil {
			return err
		}
	}
	return nil
}

// leave kills all nodes, until NATS and the registry have heard of the last one's end.
func (s *scaling) leave(ctx context.Context, r *scale) (err error) {
	before := r.Calls.NATS.Subscriptions
	r.Going, err = s.during(ctx, func() error {
		s.gauges.fleets = nil // what they used died with them
		for _, f := range s.fleets {
			f.Kill()
		}
		return settled(ctx, s.cluster.nats, func(n natsStats) bool { return n.Subscriptions <= before-float64(subjectsPerNode*s.Nodes) })
	})
	return err
}

// call makes calls at a steady rate, and has visitors come and go during the last of them.
func (s *scaling) call(ctx context.Context, o options, r *scale) error {
	calls, err := s.newCalls()
	if err != nil {
		return err
	}
	defer calls.close()
	job := load.Steady{Call: calls.call, Rate: s.Rate, Size: smallResult, For: o.Warmup}
	if _, err := load.RunSteady(ctx, job); err != nil {
		return err
	}
	stop, err := o.profile(s.children(), "scale calls")
	if err != nil {
		return err
	}
	job.For = s.scaleOptions.Calls
	r.Calls, err = s.during(ctx, func() error {
		done, err := load.RunSteady(ctx, job)
		if err == nil {
			r.Latency = quantilesOf(done.Samples)
		}
		return err
	})
	if err := errors.Join(err, stop()); err != nil {
		return err
	}
	fmt.Fprintln(s.log, "nodes come and go")
	job.For = s.Visits
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	failed := make(chan error, 1)
	go func() {
		_, err := load.RunSteady(ctx, job)
		if err != nil {
			cancel(err)
		}
		failed <- err
	}()
	r.Lag, err = s.visits(ctx)
	if err != nil {
		cancel(err)
	}
	return errors.Join(err, <-failed)
}

// children are the processes of ours, for profiles.
func (s *scaling) children() map[string]*proc.Child {
	return map[string]*proc.Child{
		"gateway": s.gateways[0].Child, "registry": s.registries[0].Child, "NATS": s.nats.Child, "nodes": s.fleets[0].Child,
	}
}

// sleep waits, unless ctx ends first.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
