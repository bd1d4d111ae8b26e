package app

import (
	"context"
	"time"

	"github.com/hecaton-dev/hecaton/services/gateway/internal/drain"
)

// lastWords is what a stop has beyond the grace period, so that who still waits is told.
const lastWords = 10 * time.Second

// pod is what a drain empties.
type pod struct{ *App }

// Connections implements [drain.Pod].
func (p pod) Connections() []drain.Connection {
	nodes, webs := p.hub.All()
	open := make([]drain.Connection, 0, len(nodes)+len(webs))
	for _, n := range nodes {
		open = append(open, drain.Node{Node: n, Holder: p.holder})
	}
	for _, w := range webs {
		open = append(open, drain.Web{Web: w})
	}
	return open
}

// CallsOpen implements [drain.Pod].
func (p pod) CallsOpen() int {
	open := int(p.hub.Counts().GetPendingRequests())
	if p.router != nil { // which starts later than the admin port
		open += p.router.Open()
	}
	return open
}

// leave is the moment at which a drain begins.
func (a *App) leave() {
	a.ready.Drain()
	a.grpc.Drain() // the same for those who ask over gRPC
	close(a.draining)
}

// drain is what the end of the program begins with (docs/architecture.md, "Drain").
func (a *App) drain(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, a.cfg.DrainDelay+a.cfg.DrainGrace)
	defer cancel()
	a.job.Finish(ctx)
	a.router.Drain(ctx)
	return nil
}
