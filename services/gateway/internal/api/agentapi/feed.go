package agentapi

import (
	"context"
	"errors"
	"io"
	"time"

	"google.golang.org/grpc"

	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
)

// source yields the events of one RPC; io.EOF where the orchestrator has ended it.
type source func() (*agentv1.Event, error)

// opener begins a feed, and begins it again (again is true) where the orchestrator was lost before its first event.
type opener func(ctx context.Context, again bool) (source, error)

// feed is the events that one client hears, from one orchestrator or several.
type feed struct {
	// Static after construction.
	api   *API
	begin opener
	until agentv1.FollowRequest_Until // UNTIL_RUN_ENDS where it begins with a run

	ends time.Time // when the token of its client is over; zero for never

	leave <-chan struct{} // closed when the pod goes away; set before open

	events chan *agentv1.Event // closed when there will be no more

	sent int64 // the number of the last event that was written; owned by the writer once run has started

	// Owned by run, and by others before it starts and after it has ended.
	next     source
	session  string // empty until it is known
	last     int64  // the number of the last event that was handed on
	moved    bool   // another orchestrator than the first feeds it
	over     bool   // its end was the end that was asked for
	patience patience
}

// lead is how many events may wait for a client; gRPC's flow control holds back the rest.
const lead = 16

// linger is how long an orchestrator has to end the RPC of a run that is complete, before that looks to it like a client
// that left.
const linger = time.Second

func (a *API) newFeed(until agentv1.FollowRequest_Until, ends time.Time, begin opener) *feed {
	return &feed{api: a, begin: begin, until: until, ends: ends, events: make(chan *agentv1.Event, lead)}
}

// open returns once an orchestrator has accepted what is asked, or says why none has.
func (f *feed) open(ctx context.Context) (err error) {
	f.patience = patience{limit: f.api.cfg.Admission, leave: f.leave}
	for again := false; ; again = true {
		if f.next, err = f.begin(ctx, again); err == nil {
			f.patience = patience{limit: f.api.cfg.Patience, leave: f.leave}
			return nil
		}
		if !unreachable(err) || !f.patience.wait(ctx) {
			return err
		}
	}
}

// run hands events on until the feed's end, or until ctx ends, which is the context of open.
func (f *feed) run(ctx context.Context, cancel context.CancelFunc) {
	f.relay(ctx)
	close(f.events)
	if f.over {
		hurry := time.AfterFunc(linger, cancel)
		defer hurry.Stop()
		for {
			if _, err := f.next(); err != nil {
				return
			}
		}
	}
}

// relay survives the loss of orchestrators.
func (f *feed) relay(ctx context.Context) {
	for {
		err := f.drain(ctx)
		for !f.over && err != nil {
			if ctx.Err() != nil || refused(err) || !f.patience.wait(ctx) {
				return
			}
			f.moved = true
			f.next, err = f.resume(ctx)
		}
		if f.over {
			return
		}
	}
}

// drain hands on what one RPC yields. Its error is nil only once the feed is over.
func (f *feed) drain(ctx context.Context) error {
	for {
		e, err := f.next()
		if errors.Is(err, io.EOF) && f.until == agentv1.FollowRequest_UNTIL_LAST {
			f.over = true
			return nil
		}
		if err != nil {
			return err
		}
		f.patience.reset()
		if e.GetSeq() <= f.last {
			continue
		}
		select {
		case f.events <- e:
		case <-ctx.Done():
			return ctx.Err()
		}
		f.last, f.session = e.GetSeq(), e.GetSessionId()
		if e.GetComplete() != nil && f.until == agentv1.FollowRequest_UNTIL_RUN_ENDS {
			f.over = true
			return nil
		}
	}
}

// resume picks the events up behind the last one, on whichever orchestrator is there.
func (f *feed) resume(ctx context.Context) (source, error) {
	if f.last == 0 {
		return f.begin(ctx, true)
	}
	return f.api.follow(ctx, f.session, f.last, f.until)
}

func (a *API) follow(ctx context.Context, session string, after int64, until agentv1.FollowRequest_Until) (source, error) {
	s, err := a.agent.Follow(ctx, &agentv1.FollowRequest{SessionId: session, AfterSeq: after, Until: until})
	return accepted(s, err)
}

// accepted waits for an RPC's headers, which an orchestrator sends once it has accepted the request, or its refusal.
func accepted[R any, P interface {
	*R
	GetEvent() *agentv1.Event
}](s grpc.ServerStreamingClient[R], err error) (source, error) {
	if err != nil {
		return nil, err
	}
	header, err := s.Header()
	if err != nil {
		return nil, err
	}
	next := func() (*agentv1.Event, error) {
		r, err := s.Recv()
		return P(r).GetEvent(), err
	}
	if header == nil { // it has ended already
		if _, err := next(); !errors.Is(err, io.EOF) {
			return nil, err
		}
		next = func() (*agentv1.Event, error) { return nil, io.EOF }
	}
	return next, nil
}

// patience paces what is tried again and again: at once, then after pauses that grow to a second.
type patience struct {
	// Static after construction.
	limit time.Duration
	leave <-chan struct{} // nil for never

	since time.Time // of the first failure in a row
	pause time.Duration
}

// reset notes that an attempt succeeded.
func (p *patience) reset() { p.since, p.pause = time.Time{}, 0 }

// wait returns true when it is time to try again, and false when trying again is of no use.
func (p *patience) wait(ctx context.Context) bool {
	switch {
	case p.since.IsZero():
		p.since, p.pause = time.Now(), 10*time.Millisecond
		return ctx.Err() == nil
	case time.Since(p.since)+p.pause > p.limit:
		return false
	}
	timer := time.NewTimer(p.pause)
	defer timer.Stop()
	p.pause = min(2*p.pause, time.Second)
	select {
	case <-timer.C:
		return true
	case <-p.leave:
	case <-ctx.Done():
	}
	return false
}
