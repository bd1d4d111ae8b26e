package schedule

import (
	"context"
	"errors"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/agent/journal"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/schedule/recurrence"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
)

// Why a run has failed without an error of its own.
const (
	nobodyDecided = "it asked for an approval, and nobody decided in time"
	sessionGone   = "its conversation was deleted"
)

// watch writes down which way runs have gone.
func (s *Scheduler) watch(ctx context.Context) (more bool, err error) {
	moved, err := s.Store.MovedRuns(ctx, time.Now().Add(-s.DecideWithin), batch)
	for _, m := range moved {
		err = errors.Join(err, s.follow(ctx, m))
	}
	return len(moved) == batch, err
}

// follow has a firing follow its run.
func (s *Scheduler) follow(ctx context.Context, m store.Moved) error {
	t, err := s.Store.FindScheduledTask(ctx, m.Task)
	if errors.Is(err, errs.TaskNotFound) {
		return nil // deleted just now, and the firing with it
	}
	if err != nil {
		return err
	}
	r, from := m.ScheduledRun, []store.FiringStatus{m.Status}
	ref := store.Ref{User: r.User, Session: r.Session}
	r.Finished = s.Now()
	switch {
	case m.Gone:
		r.Status, r.Error = store.FiringCancelled, sessionGone
		return s.settle(ctx, t, r, from, r.Error)
	case m.Passed: // its user has gone on in that conversation, so has seen how it ended
		r.Status = store.FiringCompleted
		return s.settle(ctx, t, r, from, "")
	case m.Session == store.Running:
		r.Status, r.Finished = store.FiringRunning, time.Time{}
		_, err := s.Store.Step(ctx, r, from, false, nil)
		return err
	case m.Session == store.Interrupted && m.Status == store.FiringInterrupted:
		return s.expire(ctx, t, r, ref)
	case m.Session == store.Interrupted:
		r.Status, r.Finished = store.FiringInterrupted, time.Time{}
		return s.settle(ctx, t, r, from, "It waits for your approval.")
	}
	end, err := s.endOf(ctx, ref)
	if err != nil && !errors.Is(err, errs.SessionNotFound) {
		return err
	}
	message := end.text
	switch m.FinishReason {
	case journal.FinishCancelled:
		r.Status = store.FiringCancelled
	case journal.FinishError:
		r.Status, r.Error, message = store.FiringFailed, end.failure, end.failure
	default:
		r.Status = store.FiringCompleted
	}
	return s.settle(ctx, t, r, from, message)
}

// expire ends a run about which nobody has decided in time.
func (s *Scheduler) expire(ctx context.Context, t store.ScheduledTask, r store.ScheduledRun, ref store.Ref) error {
	if err := s.cancelRun(ctx, ref); err != nil {
		return err
	}
	r.Status, r.Error = store.FiringFailed, nobodyDecided
	return s.settle(ctx, t, r, []store.FiringStatus{store.FiringInterrupted}, nobodyDecided)
}

// cancelRun asks for the end of a session's run, wherever it is.
func (s *Scheduler) cancelRun(ctx context.Context, ref store.Ref) error {
	active, err := s.Engine.Cancel(ctx, ref)
	if errors.Is(err, errs.SessionNotFound) {
		return nil
	}
	if active {
		s.Cancelled(ref)
	}
	return err
}

// settle writes down a status of which the user is told.
func (s *Scheduler) settle(ctx context.Context, t store.ScheduledTask, r store.ScheduledRun, from []store.FiringStatus, message string) error {
	told := s.notification(t, r, message)
	done, err := s.Store.Step(ctx, r, from, kindOf(t) == recurrence.Once, told)
	if done {
		s.push(told)
	}
	return err
}

// ended is what a run said at its end.
type ended struct{ text, failure string }

// lastEvents is how many of a session's events are read for its end: the last is `complete`, and an error just before it.
const lastEvents = 4

// endOf reads the end of a session's last run.
func (s *Scheduler) endOf(ctx context.Context, ref store.Ref) (ended, error) {
	e := ended{failure: "it ended with an error"}
	session, err := s.Store.Session(ctx, ref)
	if err != nil {
		return e, err
	}
	events, err := s.Store.Events(ctx, ref, max(0, session.LastSeq-lastEvents), lastEvents)
	for _, event := range events {
		if failure := event.GetError(); failure != nil {
			e.failure = failure.GetMessage()
			if failure.GetDetails() != "" {
				e.failure += ": " + failure.GetDetails()
			}
		}
		if complete := event.GetComplete(); complete != nil {
			e.text = complete.GetContent()
		}
	}
	return e, err
}
