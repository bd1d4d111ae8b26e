package toolapi

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/pkg/tool/tooldef"
	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/fanout"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/router"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/pod/limits"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/pod/presence"
)

// Workflows runs workflows on extensions, as a dialect that has them does.
type Workflows interface {
	// ExecuteWorkflow picks the node, runs a workflow on it and waits for its end; the zero deadline stands for the dialect's
	// own. variables is a JSON object; empty means {}. The answer's frame is the completion, a validated JSON object. The error
	// is an *errs.Error, or INVALID_ARGUMENT of the registry.
	ExecuteWorkflow(ctx context.Context, target router.Target, id string, variables []byte, deadline time.Time) (*router.Answer, error)
}

// Service implements ToolService.
type Service struct {
	toolv1.UnimplementedToolServiceServer
	Router   *router.Router
	Presence *presence.Client
	// Tools has the definitions of nodes' tools.
	Tools  *tooldef.Cache
	Fanout *fanout.Fanout
	// Workflows is nil where no dialect has any.
	Workflows Workflows
	// Limits are those of the users whose calls share a stream ([Limited] has the others); nil for none.
	Limits *limits.Limiter
	// Tracing makes the spans of calls that share a stream; nil makes none.
	Tracing *obs.Tracing
	// Draining is closed when streams of calls shall end. Single calls are served for as long as there is a server: their
	// callers may know no other pod.
	Draining <-chan struct{}

	receivers sync.WaitGroup // one for each stream of calls
}

// Wait returns when no goroutine of the service is left; call it after the gRPC server has stopped.
func (s *Service) Wait() { s.receivers.Wait() }

func (s *Service) call(ctx context.Context, c *toolv1.Call, progress func([]byte)) (*router.Answer, error) {
	req, err := request(ctx, c)
	if err != nil {
		return nil, err
	}
	return s.Router.Call(ctx, req, progress)
}

// CallTool implements ToolService. Its response is an answerMessage, see [Description].
func (s *Service) callTool(ctx context.Context, req *toolv1.CallToolRequest) (any, error) {
	answer, err := s.call(ctx, req.GetCall(), nil)
	if err != nil {
		return nil, err
	}
	return &answerMessage{answer: answer, field: fieldCallToolAnswer}, nil
}

// ExecuteWorkflow implements ToolService.
func (s *Service) ExecuteWorkflow(ctx context.Context, req *toolv1.ExecuteWorkflowRequest) (*toolv1.ExecuteWorkflowResponse, error) {
	if req.GetUserId() == "" || req.GetWorkflowId() == "" {
		return nil, invalid("user_id and workflow_id are required")
	}
	if err := errors.Join(checkIDs("user_id", req.GetUserId()), object("variables_json", req.GetVariablesJson())); err != nil {
		return nil, err
	}
	var end time.Time
	if req.GetTimeout() != nil {
		var err error
		if end, err = deadline(req.GetTimeout(), 0); err != nil {
			return nil, err
		}
	}
	if s.Workflows == nil {
		return s.UnimplementedToolServiceServer.ExecuteWorkflow(ctx, req)
	}
	target := router.Target{User: ids.UserID(req.GetUserId()), Node: ids.NodeID(req.GetNodeId())}
	answer, err := s.Workflows.ExecuteWorkflow(ctx, target, req.GetWorkflowId(), req.GetVariablesJson(), end)
	if err != nil {
		return nil, err
	}
	defer answer.Release()
	resp := &toolv1.ExecuteWorkflowResponse{CompletionJson: bytes.Clone(answer.Frame.Bytes()), NodeId: string(answer.Node)}
	members := jsonrpc.RawMembers(resp.GetCompletionJson(), "error") // its holder validated it
	resp.Success = jsonrpc.IsNull(members["error"])
	return resp, nil
}

// node picks a node where none is named.
func (s *Service) node(ctx context.Context, user, node string, kind nodev1.NodeType) (ids.Node, error) {
	id, err := s.Router.Choose(ctx, router.Target{User: ids.UserID(user), Node: ids.NodeID(node), Type: kind})
	return ids.Node{User: ids.UserID(user), Node: id}, err
}

// SendMessage implements ToolService.
func (s *Service) SendMessage(ctx context.Context, req *toolv1.SendMessageRequest) (*toolv1.SendMessageResponse, error) {
	if req.GetUserId() == "" || len(req.GetMessageJson()) == 0 {
		return nil, invalid("user_id and message_json are required")
	}
	if err := errors.Join(checkIDs("user_id", req.GetUserId()), object("message_json", req.GetMessageJson())); err != nil {
		return nil, err
	}
	switch target := req.GetTarget().(type) {
	case *toolv1.SendMessageRequest_Web:
		if err := s.Fanout.ToAll(fanout.User(ids.UserID(req.GetUserId())), req.GetMessageJson()); err != nil {
			return nil, errs.New(errs.BusUnavailable, "web clients on other pods were not reached: %w", err)
		}
		return &toolv1.SendMessageResponse{}, nil
	case *toolv1.SendMessageRequest_Node:
		key, err := s.node(ctx, req.GetUserId(), target.Node.GetNodeId(), target.Node.GetNodeType())
		if err != nil {
			return nil, err
		}
		if err := s.Router.Send(ctx, key, req.GetMessageJson(), ""); err != nil {
			return nil, err
		}
		return &toolv1.SendMessageResponse{NodeId: string(key.Node)}, nil
	}
	return nil, invalid("target is required: a node, or the web clients")
}

// ListNodes implements ToolService.
func (s *Service) ListNodes(ctx context.Context, req *toolv1.ListNodesRequest) (*toolv1.ListNodesResponse, error) {
	if req.GetUserId() == "" {
		return nil, invalid("user_id is required")
	}
	nodes, err := s.Presence.List(ctx, &nodev1.ListNodesRequest{
		UserId: req.GetUserId(), NodeType: req.GetNodeType(), IncludeOffline: req.GetIncludeOffline(),
	})
	if err != nil {
		return nil, err
	}
	return &toolv1.ListNodesResponse{Nodes: nodes}, nil
}

// GetStats implements ToolService.
func (s *Service) GetStats(ctx context.Context, _ *toolv1.GetStatsRequest) (*toolv1.GetStatsResponse, error) {
	stats, err := s.Presence.Stats(ctx)
	if err != nil {
		return nil, err
	}
	return &toolv1.GetStatsResponse{Stats: stats}, nil
}

// failure returns err as the event that stands for it on a stream of many calls.
func failure(err error) *toolv1.Failure {
	var e *errs.Error
	if errors.As(err, &e) {
		return e.Failure()
	}
	if status.Code(err) == codes.InvalidArgument {
		return &toolv1.Failure{Reason: string(errs.InvalidArgument), Outcome: string(errs.NotDelivered), Message: status.Convert(err).Message()}
	}
	return &toolv1.Failure{Reason: string(errs.Internal), Outcome: string(errs.NotDelivered), Message: err.Error()}
}
