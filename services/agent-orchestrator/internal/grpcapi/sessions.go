package grpcapi

import (
	"context"
	"math"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
)

// ListSessions implements AgentService.
func (s *Server) ListSessions(ctx context.Context, req *agentv1.ListSessionsRequest) (*agentv1.ListSessionsResponse, error) {
	user, err := auth.BehalfOf(ctx)
	if err != nil {
		return nil, err
	}
	if err := between("limit", req.GetLimit(), 0, maxSessions); err != nil {
		return nil, err
	}
	list, next, err := s.Sessions.Sessions(ctx, user, int(req.GetLimit()), req.GetCursor())
	if err != nil {
		return nil, err
	}
	res := &agentv1.ListSessionsResponse{NextCursor: next}
	for _, session := range list {
		res.Sessions = append(res.Sessions, publicSession(session))
	}
	return res, nil
}

// GetSession implements AgentService.
func (s *Server) GetSession(ctx context.Context, req *agentv1.GetSessionRequest) (*agentv1.GetSessionResponse, error) {
	ref, err := refOf(ctx, req.GetSessionId())
	if err != nil {
		return nil, err
	}
	session, err := s.Sessions.Session(ctx, ref)
	if err != nil {
		return nil, err
	}
	return &agentv1.GetSessionResponse{Session: publicSession(session)}, nil
}

func publicSession(s store.Session) *agentv1.Session {
	return &agentv1.Session{
		SessionId: string(s.Session), Title: s.Title, Status: string(s.Status), Mode: s.Mode, RunId: s.Run,
		FinishReason: s.FinishReason, LastSeq: float64(s.LastSeq), CreatedAt: timestamppb.New(s.Created),
		UpdatedAt: timestamppb.New(s.Updated), Interrupt: s.Interrupt,
	}
}

// ListMessages implements AgentService.
func (s *Server) ListMessages(ctx context.Context, req *agentv1.ListMessagesRequest) (*agentv1.ListMessagesResponse, error) {
	ref, err := refOf(ctx, req.GetSessionId())
	if err != nil {
		return nil, err
	}
	if err := notNegative("limit", int64(req.GetLimit())); err != nil {
		return nil, err
	}
	if err := optional("parent_tool_call_id", req.GetParentToolCallId()); err != nil {
		return nil, err
	}
	if err := notNegative("after", int64(req.GetAfter())); err != nil {
		return nil, err
	}
	res := &agentv1.ListMessagesResponse{}
	limit, after := int(req.GetLimit()), int(req.GetAfter())
	if limit == 0 {
		limit = math.MaxInt32
	}
	for size := 0; ; {
		messages, err := s.Sessions.Messages(ctx, ref, req.GetParentToolCallId(), after, min(messagesAtOnce, limit-len(res.GetMessages())))
		if err != nil {
			return nil, err
		}
		for i := range messages {
			m := publicMessage(messages[i])
			if size += proto.Size(m); size > maxMessages && len(res.GetMessages()) > 0 {
				return res, nil
			}
			res.Messages = append(res.Messages, m)
			after = messages[i].Index
		}
		if len(messages) < messagesAtOnce || len(res.GetMessages()) == limit {
			return res, nil
		}
	}
}

const (
	// maxMessages is how many bytes of messages one answer has, not counting the first message, and messagesAtOnce how many
	// messages are read at once: conversations may be of any length.
	maxMessages    = 16 << 20
	messagesAtOnce = 16
)

func publicMessage(m store.Message) *agentv1.Message {
	out := &agentv1.Message{
		Index: int32(m.Index), Role: m.Role, Content: m.Content, ToolCallId: m.CallID, ToolName: m.Tool, RunId: m.Run,
		CreatedAt: timestamppb.New(m.At),
	}
	if m.Parent != "" {
		out.ParentToolCallId = &m.Parent
	}
	for _, c := range m.Calls {
		out.ToolCalls = append(out.ToolCalls, &agentv1.MessageToolCall{ToolCallId: c.ID, ToolName: c.Name, ToolArgs: c.Args})
	}
	return out
}
