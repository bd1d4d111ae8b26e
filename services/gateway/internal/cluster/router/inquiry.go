package router

import (
	"context"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/witness"
)

// inquire asks all pods about calls of which nothing was heard, and ends those that the bus has lost on their way.
func (r *Router) inquire(doubtful []*Pending) {
	ctx, cancel := context.WithTimeout(r.life, inquiry)
	defer cancel()
	asked := make([]witness.Call, len(doubtful))
	for i, p := range doubtful {
		asked[i] = witness.Call{ID: p.id, Sent: p.began, Deadline: p.deadline}
	}
	for i, unseen := range r.Witness.Unseen(ctx, asked) {
		if p := doubtful[i]; unseen && p.fail(errs.New(errs.BusUnavailable, "the call was lost on its way: no pod has seen it, and none will")) {
			r.Logger.InfoContext(p.logged(), "the bus lost a call, which no pod has seen", "call", p.id)
		}
	}
}
