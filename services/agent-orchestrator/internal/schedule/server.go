package schedule

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
)

// ListScheduledTasks implements ScheduleService.
func (s *Scheduler) ListScheduledTasks(ctx context.Context, req *agentv1.ListScheduledTasksRequest) (*agentv1.ListScheduledTasksResponse, error) {
	user, err := auth.BehalfOf(ctx)
	if err == nil {
		err = checkLimit(req.GetLimit())
	}
	if err != nil {
		return nil, err
	}
	list, total, next, err := s.Store.ScheduledTasks(ctx, user, int(req.GetLimit()), req.GetCursor())
	if err != nil {
		return nil, err
	}
	resp := &agentv1.ListScheduledTasksResponse{Total: int32(total), NextCursor: next} //nolint:gosec // some thousands
	for _, t := range list {
		shown, err := s.message(t)
		if err != nil {
			return nil, err
		}
		resp.Tasks = append(resp.Tasks, shown)
	}
	return resp, nil
}

// maxPage is how many of a list one answer may have.
const maxPage = 200

func checkLimit(limit int32) error {
	if limit < 0 || limit > maxPage {
		return errs.New(errs.InvalidArgument, "limit must be between 0 and %d", maxPage)
	}
	return nil
}

// CreateScheduledTask implements ScheduleService.
func (s *Scheduler) CreateScheduledTask(ctx context.Context, req *agentv1.CreateScheduledTaskRequest) (*agentv1.CreateScheduledTaskResponse, error) {
	user, err := auth.BehalfOf(ctx)
	if err != nil {
		return nil, err
	}
	t, err := s.create(ctx, user, uuid.NewString(), req.GetTask(), req.GetRun())
	if err != nil {
		return nil, err
	}
	shown, err := s.message(t)
	return &agentv1.CreateScheduledTaskResponse{Task: shown}, err
}

func (s *Scheduler) create(ctx context.Context, user ids.UserID, id string, to *agentv1.ScheduledTask, run *agentv1.InvokeRequest) (store.ScheduledTask, error) {
	now := time.UnixMilli(time.Now().UnixMilli())
	t := store.ScheduledTask{ID: id, User: user, State: store.ScheduleActive, Created: now, Updated: now}
	named := members
	if to.GetRunMode() == "" {
		t.RunMode = Auto
		named = slices.DeleteFunc(slices.Clone(members), func(m string) bool { return m == "run_mode" })
	}
	if err := s.change(&t, to, run, named); err != nil {
		return t, err
	}
	return t, s.Store.CreateScheduledTask(ctx, t)
}

// GetScheduledTask implements ScheduleService.
func (s *Scheduler) GetScheduledTask(ctx context.Context, req *agentv1.GetScheduledTaskRequest) (*agentv1.GetScheduledTaskResponse, error) {
	user, err := auth.BehalfOf(ctx)
	if err != nil {
		return nil, err
	}
	t, err := s.Store.ScheduledTask(ctx, user, req.GetId())
	if err != nil {
		return nil, err
	}
	shown, err := s.message(t)
	return &agentv1.GetScheduledTaskResponse{Task: shown}, err
}

// UpdateScheduledTask implements ScheduleService.
func (s *Scheduler) UpdateScheduledTask(ctx context.Context, req *agentv1.UpdateScheduledTaskRequest) (*agentv1.UpdateScheduledTaskResponse, error) {
	shown, err := s.changed(ctx, req.GetId(), func(t *store.ScheduledTask) error {
		if t.State == store.ScheduleCancelled {
			return errs.New(errs.TaskState, "the task was cancelled, for good")
		}
		return s.change(t, req.GetTask(), req.GetRun(), req.GetChanged())
	})
	return &agentv1.UpdateScheduledTaskResponse{Task: shown}, err
}

// changed changes one of the caller's tasks, and returns it as it is then.
func (s *Scheduler) changed(ctx context.Context, id string, change func(*store.ScheduledTask) error) (*agentv1.ScheduledTask, error) {
	user, err := auth.BehalfOf(ctx)
	if err != nil {
		return nil, err
	}
	t, err := s.Store.ChangeScheduledTask(ctx, user, id, change)
	if err != nil {
		return nil, err
	}
	return s.message(t)
}

// DeleteScheduledTask implements ScheduleService.
func (s *Scheduler) DeleteScheduledTask(ctx context.Context, req *agentv1.DeleteScheduledTaskRequest) (*agentv1.DeleteScheduledTaskResponse, error) {
	user, err := auth.BehalfOf(ctx)
	if err == nil {
		err = s.delete(ctx, user, req.GetId())
	}
	if err != nil {
		return nil, err
	}
	return &agentv1.DeleteScheduledTaskResponse{Success: true, Message: "Scheduled task deleted"}, nil
}

func (s *Scheduler) delete(ctx context.Context, user ids.UserID, id string) error {
	open, err := s.Store.OpenRun(ctx, id)
	if err == nil {
		err = s.Store.DeleteScheduledTask(ctx, user, id)
	}
	if err != nil || open == nil {
		return err
	}
	return s.cancelRun(ctx, store.Ref{User: open.User, Session: open.Session})
}

// PauseScheduledTask implements ScheduleService.
func (s *Scheduler) PauseScheduledTask(ctx context.Context, req *agentv1.PauseScheduledTaskRequest) (*agentv1.PauseScheduledTaskResponse, error) {
	shown, err := s.changed(ctx, req.GetId(), func(t *store.ScheduledTask) error {
		if t.State != store.ScheduleActive && t.State != store.SchedulePaused {
			return errs.New(errs.TaskState, "the task is %s, so that there is nothing to pause", t.State)
		}
		t.State, t.Next = store.SchedulePaused, time.Time{}
		return nil
	})
	return &agentv1.PauseScheduledTaskResponse{Task: shown}, err
}

// ResumeScheduledTask implements ScheduleService.
func (s *Scheduler) ResumeScheduledTask(ctx context.Context, req *agentv1.ResumeScheduledTaskRequest) (*agentv1.ResumeScheduledTaskResponse, error) {
	shown, err := s.changed(ctx, req.GetId(), func(t *store.ScheduledTask) error {
		if t.State != store.SchedulePaused {
			return errs.New(errs.TaskState, "the task is %s, and not paused", status(*t))
		}
		rule, err := ruleOf(*t)
		if err != nil {
			return err
		}
		next := rule.Next(s.Now())
		if next.IsZero() {
			return errs.New(errs.TaskState, "the task's time is over; give it another one, or run it now")
		}
		t.State, t.Next = store.ScheduleActive, next
		return nil
	})
	return &agentv1.ResumeScheduledTaskResponse{Task: shown}, err
}

// RunScheduledTask implements ScheduleService.
func (s *Scheduler) RunScheduledTask(ctx context.Context, req *agentv1.RunScheduledTaskRequest) (*agentv1.RunScheduledTaskResponse, error) {
	user, err := auth.BehalfOf(ctx)
	if err != nil {
		return nil, err
	}
	t, err := s.Store.ScheduledTask(ctx, user, req.GetId())
	if err != nil {
		return nil, err
	}
	if t.State == store.ScheduleCancelled {
		return nil, errs.New(errs.TaskState, "the task was cancelled, for good")
	}
	r := newFiring(t, time.UnixMilli(s.Now().UnixMilli()))
	if err := s.Store.FireNow(ctx, r, hold); err != nil {
		return nil, err
	}
	r, err = s.begin(ctx, r)
	if err != nil { // it is tried again
		s.Logger.WarnContext(ctx, "a scheduled run could not be begun", "task", t.ID, "error", err)
	}
	return &agentv1.RunScheduledTaskResponse{Run: runMessage(r)}, nil
}

// CancelScheduledTask implements ScheduleService.
func (s *Scheduler) CancelScheduledTask(ctx context.Context, req *agentv1.CancelScheduledTaskRequest) (*agentv1.CancelScheduledTaskResponse, error) {
	shown, err := s.changed(ctx, req.GetId(), func(t *store.ScheduledTask) error {
		t.State, t.Next = store.ScheduleCancelled, time.Time{}
		return nil
	})
	if err != nil {
		return nil, err
	}
	open, err := s.Store.OpenRun(ctx, req.GetId())
	if err != nil || open == nil {
		return &agentv1.CancelScheduledTaskResponse{Task: shown}, err
	}
	if open.Status == store.FiringPending {
		r := *open
		r.Status, r.Finished = store.FiringCancelled, s.Now()
		if _, err := s.Store.Step(ctx, r, []store.FiringStatus{store.FiringPending}, false, nil); err != nil {
			return nil, err
		}
	}
	return &agentv1.CancelScheduledTaskResponse{Task: shown}, s.cancelRun(ctx, store.Ref{User: open.User, Session: open.Session})
}

// ListScheduledRuns implements ScheduleService.
func (s *Scheduler) ListScheduledRuns(ctx context.Context, req *agentv1.ListScheduledRunsRequest) (*agentv1.ListScheduledRunsResponse, error) {
	user, err := auth.BehalfOf(ctx)
	if err == nil {
		err = checkLimit(req.GetLimit())
	}
	if err == nil {
		_, err = s.Store.ScheduledTask(ctx, user, req.GetId())
	}
	if err != nil {
		return nil, err
	}
	list, next, err := s.Store.ScheduledRuns(ctx, user, req.GetId(), int(req.GetLimit()), req.GetCursor())
	if err != nil {
		return nil, err
	}
	resp := &agentv1.ListScheduledRunsResponse{NextCursor: next}
	for _, r := range list {
		resp.Runs = append(resp.Runs, runMessage(r))
	}
	return resp, nil
}
