package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
	"github.com/hecaton-dev/hecaton/services/e2e/bench/nodes"
	"github.com/hecaton-dev/hecaton/services/e2e/bench/proc"
)

// idle is what nodes cost that do nothing.
type idle struct {
	// Nodes is how many there were, all at one pod.
	Nodes int
	// Connected is how long it took until all were registered.
	Connected time.Duration
	// Quiet is what the pod's memory grew by per node once the nodes had been quiet for some time; Collected the same after
	// a garbage collection whose free pages went back to the system.
	Quiet, Collected memory
	// Returned is how long it took after the pod's death until all were registered at another one.
	Returned time.Duration
	// CPU is what that took, by process; Redis not counted.
	CPU map[string]time.Duration
	// Retries is how many attempts to connect failed meanwhile.
	Retries int
}

// memory is per node, in bytes.
type memory struct {
	RSS, Heap, Stacks float64
}

const (
	// warmNodes come and go before the pod's memory is looked at: code and pools that the first connections bring in do not grow
	// with the number of nodes.
	warmNodes = 200
	// idlePerUser is the most expensive case: the nodes of a user share nothing.
	idlePerUser = 1
	// probes is how many of the nodes that came back are called.
	probes    = 100
	probeSize = 200
	// quietWithin is how long to wait until the connections of clients that are gone have ended.
	quietWithin = 20 * time.Second
)

// measureIdle connects nodes to a pod of their own, reads its memory, kills it, and measures how the nodes reconnect to
// another pod.
func (c *cluster) measureIdle(ctx context.Context, o options) (r idle, err error) {
	r.Nodes = o.IdleNodes
	first, err := c.gateway("first", "")
	if err != nil {
		return r, err
	}
	second, err := c.gateway("second", "")
	if err != nil {
		return r, err
	}
	if err := c.warm(ctx, min(warmNodes, o.IdleNodes), first, second); err != nil {
		return r, err
	}
	base, err := collected(first)
	if err != nil {
		return r, err
	}
	f, err := c.nodes()
	if err != nil {
		return r, err
	}
	defer f.Kill()
	if err := f.answer(probeSize); err != nil {
		return r, err
	}
	if r.Connected, err = f.connect(nodes.Plan{Addr: first.HTTP, Dialect: nodes.Zeus, Count: r.Nodes, PerUser: idlePerUser}); err != nil {
		return r, err
	}
	select {
	case <-time.After(o.Settle):
	case <-ctx.Done():
		return r, ctx.Err()
	}
	quiet, err := first.Usage()
	if err != nil {
		return r, err
	}
	if o.Profiles != "" {
		if err := first.Do("HeapProfile", o.profilePath("idle heap")); err != nil {
			return r, err
		}
	}
	end, err := collected(first)
	if err != nil {
		return r, err
	}
	r.Quiet, r.Collected = growth(base, quiet, r.Nodes), growth(base, end, r.Nodes)

	if err := f.follow(second.HTTP); err != nil {
		return r, err
	}
	busy := map[string]*proc.Child{"gateway": second.Child, "registry": c.registries[0].Child, "nats": c.nats.Child, "nodes": f.Child}
	before, err := cpuOf(busy)
	if err != nil {
		return r, err
	}
	stop, err := o.profile(busy, "reconnect")
	if err != nil {
		return r, err
	}
	first.Kill()
	back, err := f.returned()
	if err := errors.Join(err, stop()); err != nil {
		return r, fmt.Errorf("reconnect: %w", err)
	}
	if back.Missing > 0 {
		return r, fmt.Errorf("reconnect: %d nodes are missing: %s", back.Missing, back.Why)
	}
	r.Returned, r.Retries = back.Took, back.Retries
	if r.CPU, err = cpuOf(busy); err != nil {
		return r, err
	}
	for name := range r.CPU {
		r.CPU[name] -= before[name]
	}
	return r, c.probe(ctx, r.Nodes)
}

// cpuOf returns what each process used so far.
func cpuOf(children map[string]*proc.Child) (map[string]time.Duration, error) {
	used := make(map[string]time.Duration)
	for name, c := range children {
		u, err := c.Usage()
		if err != nil {
			return nil, err
		}
		used[name] = u.CPU
	}
	return used, nil
}

// warm lets a few nodes come to each pod and go again.
func (c *cluster) warm(ctx context.Context, count int, pods ...pod) error {
	for _, p := range pods {
		f, err := c.nodes()
		if err != nil {
			return err
		}
		if _, err := f.connect(nodes.Plan{Addr: p.HTTP, Dialect: nodes.Zeus, Count: count, PerUser: perUser}); err != nil {
			return err
		}
		f.Kill()
	}
	conn, err := dial(c.entry.GRPC)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	ctx, cancel := context.WithTimeout(ctx, quietWithin)
	defer cancel()
	for {
		r, err := toolv1.NewToolServiceClient(conn).GetStats(ctx, &toolv1.GetStatsRequest{})
		if err != nil || r.GetStats().GetExtensionConnections() == 0 {
			return err
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("%d nodes are still connected", r.GetStats().GetExtensionConnections())
		}
	}
}

// probe calls some of the nodes through a pod that does not hold them.
func (c *cluster) probe(ctx context.Context, count int) error {
	conn, err := dial(c.entry.GRPC)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	for i := 0; i < count; i += max(1, count/probes) {
		user, node := nodes.Name(i, idlePerUser)
		r, err := toolv1.NewToolServiceClient(conn).CallTool(ctx, &toolv1.CallToolRequest{Call: &toolv1.Call{
			UserId: user, NodeId: node, ToolName: tool, ArgumentsJson: []byte(arguments),
		}})
		if err != nil || len(r.GetAnswer().GetResultJson()) != probeSize {
			return fmt.Errorf("call of a node that came back: %d bytes, %w", len(r.GetAnswer().GetResultJson()), err)
		}
	}
	return nil
}

// collected returns a pod's memory after a garbage collection.
func collected(p pod) (proc.Usage, error) {
	if err := p.Do("Release", proc.Nothing{}); err != nil {
		return proc.Usage{}, err
	}
	return p.Usage()
}

func growth(from, to proc.Usage, nodes int) memory {
	per := func(from, to int64) float64 { return float64(to-from) / float64(nodes) }
	return memory{per(from.RSS, to.RSS), per(from.Heap, to.Heap), per(from.Stacks, to.Stacks)}
}
