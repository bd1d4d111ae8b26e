package live

import (
	"context"
	"errors"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
)

const (
	// heal is how often a follower that gets no events looks into the store: a message of the bus may have been lost.
	heal = 2 * time.Second
	// pollAway is the same while the bus is not available.
	pollAway = 250 * time.Millisecond
	// page is how many events are read at once.
	page = 256
)

// Until is how far to follow.
type Until = agentv1.FollowRequest_Until

// The ways to follow; the zero Until is Forever.
const (
	Last    = agentv1.FollowRequest_UNTIL_LAST
	Forever = agentv1.FollowRequest_UNTIL_FOREVER
	RunEnds = agentv1.FollowRequest_UNTIL_RUN_ENDS
)

const nowhere = -1

// errAway ends followers of a pod that shuts down.
var errAway = errs.New(errs.AgentUnavailable, "this pod is shutting down; follow the session again")

// goal is the event at which a follower ends.
type goal struct {
	last     int64 // the event itself; nowhere for none
	complete int64 // or the first Complete after this event; nowhere for none
}

// Follow sends a session's events after a number, up to the end that until names, and then returns nil. Else it returns the
// error of send or of ctx, errs.SessionNotFound if the session is absent or deleted, or errs.AgentUnavailable when this pod
// drains.
func (h *Hub) Follow(ctx context.Context, ref store.Ref, after int64, until Until, send func(*agentv1.Event) error) error {
	f := h.Join(ref)
	defer f.Leave()
	if until != Last {
		h.settle(ctx)
	}
	s, err := h.store.Session(ctx, ref)
	if err != nil {
		return err
	}
	f.cursor, f.goal = after, goal{last: nowhere, complete: nowhere}
	switch {
	case until == Last, until == RunEnds && s.Status != store.Running:
		f.goal.last = s.LastSeq
	case until == RunEnds:
		f.goal.complete = s.LastSeq
	}
	if f.arrived() != nil {
		return nil
	}
	f.fallBehind()
	return f.follow(ctx, send)
}

// FollowRun sends a session's events after a number, up to the next Complete. It returns as [Hub.Follow] does.
func (h *Hub) FollowRun(ctx context.Context, ref store.Ref, after int64, send func(*agentv1.Event) error) error {
	f := h.Join(ref)
	defer f.Leave()
	f.fallBehind()
	return f.FollowRun(ctx, after, send)
}

// FollowRun sends the events after a number, up to the next Complete. The follower must have joined before the next event
// was stored, so that nothing has to be read from the store. It returns as [Hub.Follow] does.
func (f *Follower) FollowRun(ctx context.Context, after int64, send func(*agentv1.Event) error) error {
	f.cursor, f.goal = after, goal{last: nowhere, complete: after}
	return f.follow(ctx, send)
}

// settle waits until the bus knows of the subscriptions; otherwise an event that is published just now might come late.
func (h *Hub) settle(ctx context.Context) {
	if h.bus == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, flushTimeout)
	defer cancel()
	_ = h.bus.FlushWithContext(ctx) // on an error the store still has the events
}

// errEnd says that the goal is reached.
var errEnd = errors.New("live: the last event to follow was sent")

func (f *Follower) follow(ctx context.Context, send func(*agentv1.Event) error) error {
	// One channel for all that may happen: a select of several costs more than the rest of a wake-up, for each piece of text.
	defer context.AfterFunc(ctx, f.notify)()
	defer context.AfterFunc(f.hub.draining, f.notify)()
	look := newLook(f)
	defer look.stop()
	for {
		events, behind := f.take()
		err := f.deliver(ctx, events, behind, send)
		if errors.Is(err, errEnd) {
			return nil
		}
		if err != nil {
			return err
		}
		look.postpone()
		<-f.wake
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case f.hub.draining.Err() != nil:
			return errAway
		case look.due():
			if err := f.check(ctx); err != nil {
				return err
			}
		}
	}
}

func (f *Follower) patience() time.Duration {
	if f.hub.away() {
		return pollAway
	}
	return heal
}

// check looks whether the store has events that did not arrive live.
func (f *Follower) check(ctx context.Context) error {
	s, err := f.hub.store.Session(ctx, f.ref)
	switch {
	case errors.Is(err, errs.SessionNotFound):
		return err
	case err == nil && f.sent && s.LastSeq < f.cursor:
		return errs.New(errs.SessionNotFound, "the session was deleted")
	case err != nil: // it may come back
		f.hub.log.WarnContext(ctx, "a followed session cannot be read", "error", err)
	case s.LastSeq > f.cursor:
		f.fallBehind()
	}
	return nil
}

// deliver sends the events that came live, and reads missing ones from the store. By then a session may be deleted from the
// store: its last events are sent nevertheless.
func (f *Follower) deliver(ctx context.Context, events []*agentv1.Event, behind bool, send func(*agentv1.Event) error) error {
	for _, e := range events {
		if e.GetSeq() > f.cursor+1 {
			behind = true // the store has all of them
			break
		}
		if err := f.pass(e, send); err != nil {
			return err
		}
	}
	if !behind {
		return f.arrived()
	}
	return f.read(ctx, send)
}

// read sends the events that the store has.
func (f *Follower) read(ctx context.Context, send func(*agentv1.Event) error) error {
	for {
		events, err := f.hub.store.Events(ctx, f.ref, f.cursor, page)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, errs.SessionNotFound):
			return err
		case err != nil:
			f.hub.log.WarnContext(ctx, "events cannot be read", "error", err)
			return nil // the next look tries again
		}
		for _, e := range events {
			if err := f.pass(e, send); err != nil {
				return err
			}
		}
		if len(events) < page {
			return f.arrived()
		}
	}
}

// pass sends an event, unless it was sent before.
func (f *Follower) pass(e *agentv1.Event, send func(*agentv1.Event) error) error {
	if e.GetSeq() <= f.cursor {
		return nil
	}
	if err := send(e); err != nil {
		return err
	}
	f.cursor, f.sent = e.GetSeq(), true
	if f.goal.complete != nowhere && e.GetSeq() > f.goal.complete && e.GetComplete() != nil {
		return errEnd
	}
	return f.arrived()
}

func (f *Follower) arrived() error {
	if f.goal.last != nowhere && f.cursor >= f.goal.last {
		return errEnd
	}
	return nil
}
