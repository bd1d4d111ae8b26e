package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

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
	// The calls were made through the gateway that does not hold the node; Calls above is the time in which they were. Beside are
	// those that were made while visitors came and went.
	Latency quantiles
	Made    outcomes
	Beside  outcomes
	Lag     []lag
	// Lost is what the death of a gateway did, where there are more than two.
	Lost  *loss `json:",omitempty"`
	Route interest
	// Dropped connections ended although their nodes were to stay; the nodes came back.
	Dropped int
	// Problems are why parts of the run have no figures, or fewer.
	Problems []string `json:",omitempty"`
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

	problems []string
}

// note has the run go on without something that failed, and its report say so.
func (s *scaling) note(part string, err error) {
	if err == nil {
		return
	}
	fmt.Fprintf(s.log, "%s: %v\n", part, err)
	s.problems = append(s.problems, fmt.Sprintf("%s: %v", part, err))
}

// measureScale runs every part of it. Once the nodes are there, a part that fails leaves its figures out, and the others go on.
func (c *cluster) measureScale(ctx context.Context, o options) (r scale, err error) {
	s := &scaling{cluster: c, scaleOptions: o.Scale}
	if s.Gateways > runtime.NumCPU() {
		c.procs = 1 // processes that each try to use all processors mostly wake each other's threads
	}
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
	s.note("idle", errors.Join(err, stop()))
	s.note("calls", s.call(ctx, o, &r))
	if s.Gateways > 2 {
		r.Lost, err = s.lose(ctx)
		s.note("the loss of a gateway", err)
	}
	for _, f := range s.fleets {
		n, err := f.dropped()
		s.note("nodes", err)
		r.Dropped += n
	}
	s.note("the end of all nodes", s.leave(ctx, &r))
	fmt.Fprintln(c.log, "interest between two NATS servers")
	r.Route, err = c.measureInterest(ctx, s.Nodes)
	s.note("interest", err)
	r.Problems = s.problems
	return r, ctx.Err()
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
		plan := nodes.Plan{Addr: g.HTTP, Dialect: nodes.Zeus, Count: each, PerUser: idlePerUser, First: i * each, Again: true}
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
	before, err := readNATS(ctx, s.cluster.nats)
	if err != nil {
		return err
	}
	gone := s.Nodes
	if r.Lost != nil {
		gone -= r.Lost.Missing
	}
	r.Going, err = s.during(ctx, func() error {
		s.gauges.fleets = nil // what they used died with them
		for _, f := range s.fleets {
			f.Kill()
		}
		return settled(ctx, s.cluster.nats, func(n natsStats) bool {
			return n.Subscriptions <= before.Subscriptions-float64(subjectsPerNode*gone)
		})
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
	if _, err := s.steadily(ctx, calls, max(o.Warmup, time.Second)); err != nil {
		return err
	}
	stop, err := o.profile(s.children(), "scale calls")
	if err != nil {
		return err
	}
	r.Calls, err = s.during(ctx, func() (err error) {
		r.Made, err = s.steadily(ctx, calls, s.scaleOptions.Calls)
		r.Latency = r.Made.Latency
		return err
	})
	if err := errors.Join(err, stop()); err != nil {
		return err
	}
	fmt.Fprintln(s.log, "nodes come and go")
	called := make(chan error, 1)
	go func() {
		var err error
		r.Beside, err = s.steadily(ctx, calls, s.Visits)
		called <- err
	}()
	r.Lag, err = s.visits(ctx)
	return errors.Join(err, <-called)
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
