package main

import (
	"context"
	"errors"

	"github.com/hecaton-dev/hecaton/services/e2e/bench/nodes"
	"github.com/hecaton-dev/hecaton/services/e2e/bench/proc"
)

// bench is what calls are measured on: our pods and a relay's, which stand alike.
type bench struct {
	options
	*cluster
	// usual have maxNodes nodes on each side, crowded as many as its last column asked for. Both share the entry pods.
	usual, crowded sides
	// entries and relays are the entry pods of each side.
	entries, relays []pod
	// front is what MCP clients call; nil until it is needed.
	front *front
}

// sides are the pods that hold nodes, and their nodes. Those of each are a process, which may not have open files for both.
type sides struct {
	ours, relay          pod
	ourNodes, relayNodes fleet
	connected            int // on each side
	first                int // the number of the first node
	perUser              int
}

// crowdRoom is the number of the first node of the crowded sides, chosen so that no other measurement uses its users.
const crowdRoom = 2_000_000

// prepare starts the relay and connects the usual nodes.
func prepare(o options, c *cluster) (_ *bench, err error) {
	b := &bench{options: o, cluster: c, entries: []pod{c.entry}}
	b.usual = sides{ours: c.holder, perUser: perUser}
	b.crowded = sides{first: crowdRoom, perUser: idlePerUser}
	if err := b.grow(1); err != nil {
		return nil, err
	}
	if b.usual.relay, err = c.start(roleRelayHolder, wiring{NATS: c.nats.URL}); err != nil {
		return nil, err
	}
	return b, b.connect(&b.usual, maxNodes)
}

// end kills what was started for these calls alone.
func (b *bench) end() {
	children := []*proc.Child{b.usual.relay.Child, b.crowded.relay.Child, b.crowded.ours.Child}
	for _, s := range []sides{b.usual, b.crowded} {
		children = append(children, s.ourNodes.Child, s.relayNodes.Child)
	}
	for _, p := range append(b.relays, b.entries[1:]...) {
		children = append(children, p.Child)
	}
	for _, c := range children {
		if c != nil {
			c.Kill()
		}
	}
	if b.front != nil {
		_ = b.front.end() // of which only a directory for what is temporary may be left
	}
}

// grow sees that each side has so many entry pods.
func (b *bench) grow(pods int) error {
	for len(b.relays) < pods {
		p, err := b.start(roleRelayEntry, wiring{NATS: b.nats.URL})
		if err != nil {
			return err
		}
		b.relays = append(b.relays, p)
	}
	for len(b.entries) < pods {
		p, err := b.gateway("another entry", "")
		if err != nil {
			return err
		}
		b.entries = append(b.entries, p)
	}
	return nil
}

// connect sees that each side has so many nodes.
func (b *bench) connect(s *sides, count int) (err error) {
	if s.connected == 0 {
		if s.ourNodes, err = b.nodes(); err != nil {
			return err
		}
		if s.relayNodes, err = b.nodes(); err != nil {
			return err
		}
	}
	plan := nodes.Plan{Count: count - s.connected, PerUser: s.perUser, First: s.first + s.connected}
	if plan.Count <= 0 {
		return nil
	}
	s.connected = count
	plan.Addr, plan.Dialect = s.ours.HTTP, nodes.Zeus
	if _, err = s.ourNodes.connect(plan); err != nil {
		return err
	}
	plan.Addr, plan.Dialect = s.relay.HTTP, nodes.Bare
	_, err = s.relayNodes.connect(plan)
	return err
}

// ready sees that everything is there that some points of a group need, which have results of the same size.
func (b *bench) ready(g group, points []point) (err error) {
	for _, p := range points {
		if err := b.grow(p.Pods); err != nil {
			return err
		}
	}
	if g.name == groupMCP && b.front == nil {
		if b.front, err = b.startFront(); err != nil {
			return err
		}
	}
	s := b.sides(g.name)
	if g.name == groupNodes {
		if err := b.crowd(points[0].Nodes); err != nil {
			return err
		}
	}
	for _, f := range []fleet{s.ourNodes, s.relayNodes} {
		set := f.answer
		if points[0].text() {
			set = f.say
		}
		if err := set(points[0].Size); err != nil {
			return err
		}
	}
	return nil
}

// crowd sees that so many nodes are connected to pods of their own.
func (b *bench) crowd(count int) (err error) {
	s := &b.crowded
	if s.connected == 0 {
		if s.ours, err = b.gateway("crowded holder", ""); err != nil {
			return err
		}
		if s.relay, err = b.start(roleRelayHolder, wiring{NATS: b.nats.URL}); err != nil {
			return err
		}
	}
	return b.connect(s, count)
}

// sides are those of a group.
func (b *bench) sides(group string) *sides {
	if group == groupNodes {
		return &b.crowded
	}
	return &b.usual
}

// way makes the caller of one way at a point.
func (b *bench) way(ctx context.Context, name string, p point) (w way, err error) {
	s := b.sides(p.Group)
	entries, holder := b.entries[:p.Pods], s.ours
	if p.Group == groupMCP {
		entries = []pod{b.front.pod}
	}
	switch name {
	case wayRelay, wayRelayStream:
		entries, holder = b.relays[:p.Pods], s.relay
	case wayLocal:
		entries = []pod{s.ours}
	}
	w = way{name: name, workers: [...][]*proc.Child{nil, {holder.Child}, {b.nats.Child}}}
	if name == waySDK { // whose one process does all
		entries, w.workers = []pod{b.front.sdk}, [len(parts)][]*proc.Child{}
	}
	var callers []*caller
	for _, entry := range entries {
		// Each has nodes of its own to step through; which of them are called is the same.
		c, err := b.caller(ctx, name, p, entry, s.targets(name, p))
		if err != nil {
			return w, errors.Join(err, share(callers).close())
		}
		callers = append(callers, c)
		if name != wayLocal { // whose one pod is the holder
			w.workers[0] = append(w.workers[0], entry.Child)
		}
	}
	w.caller = share(callers)
	return w, nil
}

// targets are the nodes that a way calls at a point.
func (s *sides) targets(name string, p point) *targets {
	step := 1
	if name == wayUnnamed || name == wayRESTUnnamed {
		step = s.perUser // the first node of each user
	}
	return newTargets(p, s.first, s.perUser, step)
}

func (b *bench) caller(ctx context.Context, name string, p point, entry pod, t *targets) (*caller, error) {
	switch name {
	case wayRelay:
		return callRelay(entry.GRPC, t)
	case wayRelayStream:
		return callRelayStream(ctx, entry.GRPC, t)
	case wayUnary, wayUnnamed:
		return callUnary(entry.GRPC, t, name == wayUnary)
	case wayREST, wayRESTUnnamed:
		copied := 0
		if p.text() {
			copied = p.Size
		}
		return callREST(entry.HTTP, t, name == wayREST, copied), nil
	case wayMCP:
		return callMCP(entry.HTTP, t), nil
	case waySDK:
		return callSDK(entry.HTTP, t, p.Size), nil
	}
	return callCluster(ctx, entry.GRPC, t)
}
