package schedule

import (
	"context"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/schedule/recurrence"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
)

// Why a firing has no run.
const (
	nobodyThere  = "no server was running at that time"
	stillRunning = "the run of the firing before was still going on"
)

const (
	// longestLook is how far back firings are looked for, and mostMissed how many of them are recorded.
	longestLook = 31 * 24 * time.Hour
	mostMissed  = 100
)

// fireDue makes the firings of the tasks that are due, and begins their runs.
func (s *Scheduler) fireDue(ctx context.Context) (more bool, err error) {
	due, err := s.Store.ClaimDue(ctx, s.Now(), dueHold, batch)
	if err != nil {
		return false, err
	}
	var pending []store.ScheduledRun
	for i := range due {
		made, err := s.fire(ctx, due[i])
		if err != nil {
			return false, err // the rest is claimed again
		}
		pending = append(pending, made...)
	}
	s.beginAll(ctx, pending)
	return len(due) == batch, nil
}

// fire makes the firings of one task, and returns those that are to have a run.
func (s *Scheduler) fire(ctx context.Context, t store.ScheduledTask) ([]store.ScheduledRun, error) {
	rule, err := ruleOf(t)
	if err != nil {
		return nil, err
	}
	now := s.Now()
	times, next := since(rule, t.Next, now)
	var firings []store.ScheduledRun
	for i, at := range times {
		r := newFiring(t, at)
		switch {
		case i < len(times)-1 || now.Sub(at) > madeUp:
			r.Status, r.Error, r.Finished = store.FiringMissed, nobodyThere, now
		case t.Running:
			r.Status, r.Error, r.Finished = store.FiringMissed, stillRunning, now
		}
		firings = append(firings, r)
	}
	if len(firings) == 0 {
		_, err := s.Store.Fire(ctx, t, nil, next, hold, nil)
		return nil, err
	}
	last := firings[len(firings)-1]
	var told []store.Notification
	if last.Status == store.FiringMissed {
		told = s.notification(t, last, last.Error)
		if next.IsZero() {
			t.State = store.ScheduleFailed
		}
	}
	done, err := s.Store.Fire(ctx, t, firings, next, hold, told)
	if err != nil || !done {
		return nil, err
	}
	s.push(told)
	if last.Status != store.FiringPending {
		return nil, nil
	}
	return []store.ScheduledRun{last}, nil
}

// since returns the times at which a rule has fired from one that is due until now, the last ones where there are many, and when
// it fires next.
func since(rule *recurrence.Schedule, due, now time.Time) (times []time.Time, next time.Time) {
	if first := now.Add(-longestLook); due.Before(first) {
		if due = rule.Next(first); due.IsZero() || due.After(now) {
			return nil, due
		}
	}
	for next = due; !next.IsZero() && !next.After(now); next = rule.Next(next) {
		if times = append(times, next); len(times) > mostMissed {
			times = times[1:]
		}
	}
	return times, next
}

func newFiring(t store.ScheduledTask, at time.Time) store.ScheduledRun {
	id := uuid.NewString()
	return store.ScheduledRun{
		ID: id, Task: t.ID, User: t.User, FiredFor: at, Session: ids.SessionID("session_" + id), Status: store.FiringPending,
	}
}

// beginPending begins the runs of firings whose pod has not.
func (s *Scheduler) beginPending(ctx context.Context) (more bool, err error) {
	left, err := s.Store.ClaimPending(ctx, hold, batch)
	s.beginAll(ctx, left)
	return len(left) == batch, err
}

// beginAll begins several runs at a time, and returns when it has tried all.
func (s *Scheduler) beginAll(ctx context.Context, firings []store.ScheduledRun) {
	var begun sync.WaitGroup
	places := make(chan struct{}, atOnce)
	for _, r := range firings {
		places <- struct{}{}
		begun.Go(func() {
			defer func() { <-places }()
			if _, err := s.begin(ctx, r); err != nil && ctx.Err() == nil {
				s.Logger.WarnContext(ctx, "a scheduled run could not be begun", "task", r.Task, "error", err)
			}
		})
	}
	begun.Wait()
}
