package schedule

import (
	"context"
	"errors"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
)

// What the program that keeps the tasks asks for.
const (
	add    = "add"
	update = "update"
	remove = "remove"
)

// SyncScheduledTask implements ScheduleService. Adding what is there, and updating what is not, come to the same: the program
// says how the task is now.
func (s *Scheduler) SyncScheduledTask(ctx context.Context, req *agentv1.SyncScheduledTaskRequest) (*agentv1.SyncScheduledTaskResponse, error) {
	if err := ids.Check("task_id", req.GetTaskId()); err != nil {
		return nil, err
	}
	known, err := s.Store.FindScheduledTask(ctx, req.GetTaskId())
	missing := errors.Is(err, errs.TaskNotFound)
	if err != nil && !missing {
		return nil, err
	}
	switch action := req.GetAction(); {
	case action == remove && missing:
		return nil, err
	case action == remove:
		err = s.delete(ctx, known.User, known.ID)
	case action == add || action == update:
		err = s.mirror(ctx, known, missing, req)
	default:
		return nil, errs.New(errs.InvalidArgument, "action is %q, must be %q, %q or %q", action, add, update, remove)
	}
	if err != nil {
		return nil, err
	}
	return &agentv1.SyncScheduledTaskResponse{Success: true, Action: req.GetAction(), TaskId: req.GetTaskId()}, nil
}

func (s *Scheduler) mirror(ctx context.Context, known store.ScheduledTask, missing bool, req *agentv1.SyncScheduledTaskRequest) error {
	if err := ids.Check("task.user_id", req.GetUserId()); err != nil {
		return err
	}
	user := ids.UserID(req.GetUserId())
	if missing {
		_, err := s.create(ctx, user, req.GetTaskId(), req.GetTask(), req.GetRun())
		return err
	}
	if known.User != user {
		return errs.New(errs.NameTaken, "task %q is of another user", req.GetTaskId())
	}
	to := req.GetTask()
	if to.GetRunMode() == "" {
		to.RunMode = known.RunMode
	}
	_, err := s.Store.ChangeScheduledTask(ctx, user, known.ID, func(t *store.ScheduledTask) error {
		return s.change(t, to, req.GetRun(), members)
	})
	return err
}
