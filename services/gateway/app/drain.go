package app

import (
	"context"
	"sync"
	"time"

	"github.com/hecaton-dev/hecaton/services/gateway/internal/pod/drain"
)

// lastWords is how long a stop may take beyond the grace period, so that callers which still wait are told.
const lastWords = 10 * time.Second

// pod is what a drain empties.
type pod struct{ *App }

// Connections implements [drain.Pod].
func (p pod) Connections() []drain.Connection {
	nodes, clients := p.hub.All()
	open := make([]drain.Connection, 0, len(nodes)+len(clients))
	for _, n := range nodes {
		open = append(open, drain.Node{Node: n, Holder: p.holder})
	}
	for _, c := range clients {
		open = append(open, drain.Client{Client: c})
	}
	return append(open, p.streams.Connections()...)
}

// CallsOpen implements [drain.Pod].
func (p pod) CallsOpen() int { return int(p.hub.Counts().GetPendingRequests()) + p.router.Open() }

// leave is the moment at which a drain begins.
func (a *App) leave() {
	a.ready.Drain()
	a.streams.Begin()
	a.grpc.Drain() // the same for those who ask over gRPC
	close(a.draining)
}

// drain is what the end of the program begins with:
//
//  1. The job closes the connections one after the other, while requests and calls are served.
//  2. The listeners close. Requests and calls in progress finish.
//  3. What is left at the end of the grace period is given up, and still told so.
//
// See docs/architecture.md#drain.
func (a *App) drain(ctx context.Context) error {
	grace, cancel := context.WithTimeout(ctx, a.cfg.DrainDelay+a.cfg.DrainGrace)
	defer cancel()
	a.job.Finish(grace)
	a.streams.Close()
	closed := make(chan error, 1)
	go func() { closed <- a.closeListeners(ctx, grace) }()
	select {
	case err := <-closed:
		return err
	case <-grace.Done():
	}
	a.streams.Cut()
	a.router.Drain(grace)
	return <-closed
}

// closeListeners returns when what is in progress has ended; at the end of ctx it is cut off, and tasks are at the end of grace.
func (a *App) closeListeners(ctx, grace context.Context) error {
	var calls sync.WaitGroup
	calls.Go(func() { a.grpc.Close(ctx) })
	calls.Go(func() { a.front.tasks.Finish(grace) })
	err := a.edge.Shutdown(ctx)
	calls.Wait()
	return err
}
