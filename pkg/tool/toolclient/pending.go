package toolclient

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
)

// pending is one call that is open on a stream.
type pending struct {
	id       uint64
	progress chan *toolv1.Progress // nil where nobody listens
	done     chan struct{}         // closed once over

	// guarded by the stream's mu, and static once done is closed
	sent   bool // may have reached the gateway
	over   bool
	answer *toolv1.Answer
	err    error
}

// maxProgress is how many notifications wait for a caller that is slow to take them.
const maxProgress = 64

// hear passes a notification on, or drops it where the caller is behind.
func (p *pending) hear(m *toolv1.Progress) {
	select {
	case p.progress <- m:
	default:
	}
}

// call runs one call on the stream, once.
func (s *stream) call(ctx context.Context, call *toolv1.Call, progress func(*toolv1.Progress)) (*toolv1.Answer, error) {
	p := s.start(call, progress != nil)
	if p == nil {
		return nil, &unsentError{errors.New("the gateway takes no new calls")}
	}
	for {
		select {
		case m := <-p.progress:
			progress(m)
		case <-p.done:
			for len(p.progress) > 0 {
				progress(<-p.progress)
			}
			return p.answer, p.err
		case <-ctx.Done():
			return s.abandon(ctx, p)
		}
	}
}

// start queues a call; nil where the stream takes no new ones.
func (s *stream) start(call *toolv1.Call, progress bool) *pending {
	p := &pending{done: make(chan struct{})}
	if progress {
		p.progress = make(chan *toolv1.Progress, maxProgress)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.retired {
		return nil
	}
	s.lastID++
	p.id = s.lastID
	s.open[p.id] = p
	s.asked.CompareAndSwap(0, time.Now().UnixNano())
	s.post(outgoing{
		request: &toolv1.CallsRequest{Id: p.id, Action: &toolv1.CallsRequest_Start{Start: call}},
		starts:  p,
	})
	return p
}

// abandon cancels a call whose caller no longer waits. If the call has ended meanwhile, its result counts.
func (s *stream) abandon(ctx context.Context, p *pending) (*toolv1.Answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.over {
		return p.answer, p.err
	}
	delete(s.open, p.id)
	if len(s.open) == 0 {
		s.asked.Store(0) // nothing is owed any more, so silence says nothing
	}
	cancelled := errors.Is(ctx.Err(), context.Canceled)
	if !p.sent {
		s.outbox = slices.DeleteFunc(s.outbox, func(o outgoing) bool { return o.starts == p })
		s.wakeWriter() // which may have nothing left to wait for
		if cancelled {
			return nil, errs.New(errs.Cancelled, "the caller cancelled the call before it was sent: %w", ctx.Err())
		}
		return nil, errs.New(errs.BusUnavailable, "no gateway read the call before its deadline: %w", ctx.Err())
	}
	reason := "the deadline of the call has passed"
	if cancelled {
		reason = "the caller gave the call up"
	}
	s.post(outgoing{request: &toolv1.CallsRequest{
		Id: p.id, Action: &toolv1.CallsRequest_Cancel{Cancel: &toolv1.Cancel{Reason: reason}},
	}})
	if cancelled {
		return nil, errs.New(errs.Cancelled, "the caller cancelled the call: %w", ctx.Err())
	}
	return nil, errs.New(errs.ToolTimeout, "there was no answer before the deadline: %w", ctx.Err())
}
