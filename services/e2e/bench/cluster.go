package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/hecaton-dev/hecaton/services/e2e/bench/nodes"
	"github.com/hecaton-dev/hecaton/services/e2e/bench/proc"
)

// pod is a child that listens.
type pod struct {
	*proc.Child
	Addresses
}

// cluster is everything that runs, each part in a process of its own.
type cluster struct {
	log      io.Writer
	level    slog.Level // of what the children log
	children []*proc.Child

	nats, redis pod
	registries  []pod
	// served is how many gateways were given a registry, each the next one.
	served int
	// entry is a pod without nodes, holder one that has some.
	entry, holder pod
	// procs is how many processors each process uses that is started from now on; 0 is all.
	procs int
}

// shape is how many there are of what keeps presence.
type shape struct {
	// Registries serve the gateways in turn. Shards are the masters of a Redis Cluster; 1 is a server of its own.
	Registries, Shards int
}

// startCluster starts what every measurement needs.
func startCluster(s shape, log io.Writer, level slog.Level) (_ *cluster, err error) {
	c := &cluster{log: log, level: level}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.close())
		}
	}()
	if c.nats, err = c.start(roleNATS, wiring{}); err != nil {
		return nil, err
	}
	if c.redis, err = c.start(roleRedis, wiring{Shards: s.Shards}); err != nil {
		return nil, err
	}
	for i := range s.Registries {
		r, err := c.start(roleRegistry, wiring{Name: fmt.Sprintf("registry-%d", i), NATS: c.nats.URL, Redis: c.redis.URL})
		if err != nil {
			return nil, err
		}
		c.registries = append(c.registries, r)
	}
	if c.entry, err = c.gateway("entry", ""); err != nil {
		return nil, err
	}
	c.holder, err = c.gateway("holder", "")
	return c, err
}

// gateway starts one that serves the agents of an orchestrator; "" for none.
func (c *cluster) gateway(name, orchestrator string) (pod, error) {
	return c.start(roleGateway, wiring{Name: name, NATS: c.nats.URL, Registry: c.registry().GRPC, Orchestrator: orchestrator})
}

// limited starts one that holds users to their limits.
func (c *cluster) limited(name string) (pod, error) {
	return c.start(roleGateway, wiring{Name: name, NATS: c.nats.URL, Registry: c.registry().GRPC, Limits: true})
}

// registry returns the one whose turn it is.
func (c *cluster) registry() pod {
	c.served++
	return c.registries[c.served%len(c.registries)]
}

func (c *cluster) start(role string, w wiring) (pod, error) {
	w.Log, w.Procs = c.level, c.procs
	child, err := proc.Start(role, w, c.log)
	if err != nil {
		return pod{}, err
	}
	c.children = append(c.children, child)
	p := pod{Child: child}
	return p, child.Call("Pod.Addresses", proc.Nothing{}, &p.Addresses)
}

// nodes starts a process of simulated nodes.
func (c *cluster) nodes() (fleet, error) {
	child, err := proc.Start(roleNodes, wiring{Procs: c.procs}, c.log)
	if err == nil {
		c.children = append(c.children, child)
	}
	return fleet{child}, err
}

// close ends all that was started, last first.
func (c *cluster) close() error {
	var errs []error
	for i := len(c.children) - 1; i >= 0; i-- {
		errs = append(errs, c.children[i].Stop())
	}
	return errors.Join(errs...)
}

// fleet is a process of simulated nodes.
type fleet struct{ *proc.Child }

// connect returns how long it took until all nodes were registered.
func (f fleet) connect(p nodes.Plan) (took time.Duration, err error) {
	return took, f.Call("Nodes.Connect", p, &took)
}

// beat has the nodes that are there send heartbeats.
func (f fleet) beat(every time.Duration) error { return f.Call("Nodes.Beat", every, &struct{}{}) }

// answer sets the size of the results.
func (f fleet) answer(size int) error { return f.Call("Nodes.Answer", size, &struct{}{}) }

// say makes the results texts of so many bytes.
func (f fleet) say(size int) error { return f.Call("Nodes.Say", size, &struct{}{}) }

// follow tells the nodes where to go, in turn, when they lose their connections.
func (f fleet) follow(addrs ...string) error { return f.Call("Nodes.Follow", addrs, &struct{}{}) }

// returned waits until all nodes have gone there.
func (f fleet) returned() (r nodes.Return, err error) {
	return r, f.Call("Nodes.Returned", struct{}{}, &r)
}

// dropped is how many connections ended although their nodes were to stay.
func (f fleet) dropped() (n int, err error) { return n, f.Call("Nodes.Dropped", struct{}{}, &n) }
