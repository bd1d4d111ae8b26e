package main

import (
	"github.com/hecaton-dev/hecaton/services/e2e/bench/nodes"
)

// called is a node that calls go to.
type called struct{ user, node string }

// relay is the node's name on the relay, which knows no users.
func (c called) relay() string { return c.user + "-" + c.node }

// targets are the nodes that the workers of a point call. A worker's calls go to one after another where there are more nodes
// than workers, and always to the same one where there are not.
type targets struct {
	nodes   []called
	workers int
	calls   [maxWorkers]int // that a worker has made; each is the worker's own
}

// newTargets returns as many nodes as the point calls: every step-th from the first one on, of users with perUser each.
func newTargets(p point, first, perUser, step int) *targets {
	t := &targets{workers: p.Workers}
	for i := range p.Nodes {
		user, node := nodes.Name(first+i*step, perUser)
		t.nodes = append(t.nodes, called{user, node})
	}
	return t
}

// next is the node of a worker's next call.
func (t *targets) next(worker int) called {
	i := worker
	if len(t.nodes) > t.workers {
		i += t.calls[worker] * t.workers
		t.calls[worker]++
	}
	return t.nodes[i%len(t.nodes)]
}
