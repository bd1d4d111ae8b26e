package router

import (
	"context"

	"github.com/hecaton-dev/hecaton/pkg/errs"
)

// Drain refuses new calls to the nodes of other pods and waits for the open ones. What is left at the end of ctx is given
// up: its callers hear that the outcome is unknown while there is still somebody to tell them, and the nodes that nobody
// waits.
func (r *Router) Drain(ctx context.Context) {
	select {
	case <-r.refuse():
	case <-ctx.Done():
		r.giveUp()
	}
}

// refuse returns a channel that is closed once nothing is pending.
func (r *Router) refuse() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	if len(r.pending) == 0 {
		idle := make(chan struct{})
		close(idle)
		return idle
	}
	if r.idle == nil {
		r.idle = make(chan struct{})
	}
	return r.idle
}

func (r *Router) giveUp() {
	for _, p := range r.all() {
		if p.fail(errs.New(errs.HolderLost, "this pod shut down during the call")) && p.id != "" {
			p.tell("the pod shut down")
		}
	}
}

// all returns what is pending.
func (r *Router) all() []*Pending {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]*Pending, 0, len(r.pending))
	for _, p := range r.pending {
		all = append(all, p)
	}
	return all
}
