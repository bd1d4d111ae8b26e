package calltask

import (
	"context"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
)

// Store has the tasks (package store).
type Store interface {
	CreateCallTask(ctx context.Context, t store.CallTask) error
	CallTask(ctx context.Context, user ids.UserID, id string) (t store.CallTask, found bool, err error)
	ChangeCallTask(ctx context.Context, t store.CallTask) (kept bool, err error)
	KeepCallTasks(ctx context.Context, list []string) error
}

// Server implements TaskService. Its errors are those of packages errs and ids.
type Server struct {
	agentv1.UnimplementedTaskServiceServer
	Store Store
}

const (
	// longest is how long a task may live, and maxKept how many tasks one request may name.
	longest = 2 * time.Hour
	maxKept = 10_000
	// maxMessage bounds what is said of a task, in bytes.
	maxMessage = 2 << 10
)

// CreateTask implements TaskService.
func (s *Server) CreateTask(ctx context.Context, req *agentv1.CreateTaskRequest) (*agentv1.CreateTaskResponse, error) {
	user, t, err := read(ctx, req.GetTask())
	if err != nil {
		return nil, err
	}
	ttl := req.GetTask().GetTtl().AsDuration()
	if ttl <= 0 || ttl > longest {
		return nil, errs.New(errs.InvalidArgument, "ttl must be between 0 and %v", longest)
	}
	t.User = user
	t.Created = time.UnixMilli(time.Now().UnixMilli()) // as it is stored
	t.Updated, t.Expires = t.Created, t.Created.Add(ttl)
	if err := s.Store.CreateCallTask(ctx, t); err != nil {
		return nil, err
	}
	return &agentv1.CreateTaskResponse{Task: message(t)}, nil
}

// GetTask implements TaskService.
func (s *Server) GetTask(ctx context.Context, req *agentv1.GetTaskRequest) (*agentv1.GetTaskResponse, error) {
	user, err := auth.BehalfOf(ctx)
	if err != nil {
		return nil, err
	}
	if err := ids.Check("id", req.GetId()); err != nil {
		return nil, err
	}
	t, found, err := s.Store.CallTask(ctx, user, req.GetId())
	if err != nil || !found {
		return &agentv1.GetTaskResponse{}, err
	}
	return &agentv1.GetTaskResponse{Task: message(t)}, nil
}

// ChangeTask implements TaskService.
func (s *Server) ChangeTask(ctx context.Context, req *agentv1.ChangeTaskRequest) (*agentv1.ChangeTaskResponse, error) {
	_, t, err := read(ctx, req.GetTask())
	if err != nil {
		return nil, err
	}
	kept, err := s.Store.ChangeCallTask(ctx, t)
	return &agentv1.ChangeTaskResponse{Kept: kept}, err
}

// KeepTasks implements TaskService.
func (s *Server) KeepTasks(ctx context.Context, req *agentv1.KeepTasksRequest) (*agentv1.KeepTasksResponse, error) {
	if n := len(req.GetIds()); n > maxKept {
		return nil, errs.New(errs.InvalidArgument, "%d tasks are named; at most %d are allowed", n, maxKept)
	}
	return &agentv1.KeepTasksResponse{}, s.Store.KeepCallTasks(ctx, req.GetIds())
}

func read(ctx context.Context, m *agentv1.Task) (ids.UserID, store.CallTask, error) {
	user, err := auth.BehalfOf(ctx)
	if err != nil {
		return "", store.CallTask{}, err
	}
	if err := ids.Check("id", m.GetId()); err != nil {
		return "", store.CallTask{}, err
	}
	switch m.GetStatus() {
	case store.TaskWorking, store.TaskInput, store.TaskCompleted, store.TaskCancelled:
	default:
		return "", store.CallTask{}, errs.New(errs.InvalidArgument, "status %.64q is none of a task", m.GetStatus())
	}
	said := m.GetMessage()
	return user, store.CallTask{
		ID: m.GetId(), User: user, Owner: m.GetOwner(), Node: m.GetNodeId(), Status: m.GetStatus(), Message: said[:min(len(said), maxMessage)],
		Sent: m.GetSent(), Input: m.GetInputJson(), Result: m.GetResultJson(),
	}, nil
}

func message(t store.CallTask) *agentv1.Task {
	return &agentv1.Task{
		Id: t.ID, Owner: t.Owner, NodeId: t.Node, Status: t.Status, Message: t.Message, Sent: t.Sent, InputJson: t.Input, ResultJson: t.Result,
		CreatedAt: timestamppb.New(t.Created), UpdatedAt: timestamppb.New(t.Updated), Ttl: durationpb.New(t.Expires.Sub(t.Created)),
	}
}
