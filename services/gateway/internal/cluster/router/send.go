package router

import (
	"context"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/envelope"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/held/calls"
)

// sendTimeout bounds the wait for a holder to confirm a frame.
const sendTimeout = 5 * time.Second

// Send writes a frame that is no call to a node, wherever it is connected, and returns once the holder has queued it.
// asker names the web client that waits for what the node says; empty where none does. The error is an *errs.Error.
func (r *Router) Send(ctx context.Context, key ids.Node, data []byte, asker string) error {
	if len(data) > r.MaxFrame {
		return errs.New(errs.TooLarge, "the frame has %d bytes, at most %d are allowed", len(data), r.MaxFrame)
	}
	failure := r.Local.Send(key, data, asker)
	if failure == nil || failure.Reason != errs.NodeNotConnected {
		return plain(failure)
	}
	w := &waiter{done: make(chan struct{})}
	taken := make(chan struct{}, 1)
	w.status = func(calls.Status) {
		select {
		case taken <- struct{}{}:
		default:
		}
	}
	now := time.Now()
	p := &Pending{r: r, key: key, sink: w, heard: now, deadline: now.Add(sendTimeout)}
	reply, ok := r.enter(p)
	if !ok {
		return errs.New(errs.Draining, "this pod is shutting down")
	}
	intake := 0
	if len(data) > r.Bus.MaxMessage() {
		p.frame, intake = data, len(data)
	}
	m := envelope.Send(bus.NodePrefix(key)+bus.SuffixCall, data, asker, intake)
	m.Reply = reply
	if err := r.Bus.PublishMsg(m); err != nil {
		p.fail(errs.New(errs.BusUnavailable, "the bus cannot be reached: %w", err))
	}
	return r.taken(ctx, p, w, taken)
}

func (r *Router) taken(ctx context.Context, p *Pending, w *waiter, taken <-chan struct{}) error {
	timeout := time.NewTimer(time.Until(p.deadline))
	defer timeout.Stop()
	select {
	case <-taken:
		p.finish()
		return nil
	case <-w.done:
		return plain(w.err)
	case <-timeout.C:
		p.finish()
		return errs.New(errs.HolderLost, "the pod that holds the node did not confirm the frame")
	case <-ctx.Done():
		p.finish()
		return errs.New(errs.Cancelled, "the caller gave up: %w", ctx.Err())
	}
}

// plain keeps a nil *errs.Error from becoming a non-nil error.
func plain(e *errs.Error) error {
	if e == nil {
		return nil
	}
	return e
}
