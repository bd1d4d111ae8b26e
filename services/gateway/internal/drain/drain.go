// Package drain empties a pod without losing a call: its nodes stop getting new calls one after the other, at a jittered
// pace, finish what they run, and are told to connect again elsewhere (close code 1012).
//
// The pace spreads the reconnections in time, so that the other pods do not get them all at once.
package drain

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hecaton-dev/hecaton/services/gateway/internal/conn"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/hub"
)

// Retirer keeps new calls of other pods away from a node.
type Retirer interface{ Retire(n *hub.Node) }

// Job drains one pod, once.
type Job struct {
	Hub    *hub.Hub
	Holder Retirer
	// Spread is the time over which connections are closed.
	Spread time.Duration
	Logger *slog.Logger

	left atomic.Int64
}

// Left returns how many connections are still to be closed, for a metric.
func (j *Job) Left() int64 { return j.left.Load() }

// Run drains until every connection was told to leave, or ctx ends: then those that are left are cut off with their
// calls, whose callers hear that the outcome is unknown.
func (j *Job) Run(ctx context.Context) {
	nodes, webs := j.Hub.All()
	rand.Shuffle(len(nodes), func(a, b int) { nodes[a], nodes[b] = nodes[b], nodes[a] })
	j.left.Store(int64(len(nodes) + len(webs)))
	j.Logger.Info("drain begins", "nodes", len(nodes), "web_clients", len(webs))
	var leaving sync.WaitGroup
	pause := j.Spread / time.Duration(max(1, len(nodes)+len(webs)))
	for _, n := range nodes {
		leaving.Go(func() { j.node(ctx, n) })
		wait(ctx, jitter(pause))
	}
	for _, w := range webs {
		w.Conn.Close(conn.Draining)
		j.left.Add(-1)
		wait(ctx, jitter(pause))
	}
	leaving.Wait()
	j.Logger.Info("drain ends", "in_time", ctx.Err() == nil)
}

func (j *Job) node(ctx context.Context, n *hub.Node) {
	defer j.left.Add(-1)
	j.Holder.Retire(n)
	select {
	case <-n.Calls.Drain():
	case <-ctx.Done():
	}
	n.Conn.Close(conn.Draining)
}

// jitter returns between half and one and a half of d.
func jitter(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return d/2 + rand.N(d)
}

func wait(ctx context.Context, d time.Duration) {
	if d == 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
