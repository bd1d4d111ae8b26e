package toolapi

import (
	"context"
	"errors"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/tool/tooldef"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
)

// ResolveNode implements ToolService.
func (s *Service) ResolveNode(ctx context.Context, req *toolv1.ResolveNodeRequest) (*toolv1.ResolveNodeResponse, error) {
	if req.GetUserId() == "" {
		return nil, invalid("user_id is required")
	}
	if err := checkIDs("user_id", req.GetUserId(), "session_id", req.GetSessionId(),
		"preferred_node_id", req.GetPreferredNodeId()); err != nil {
		return nil, err
	}
	if req.GetDryRun() && req.GetSessionId() != "" {
		return s.preview(ctx, req)
	}
	choice, err := s.Presence.Resolve(ctx, &nodev1.ResolveNodeRequest{
		UserId: req.GetUserId(), SessionId: req.GetSessionId(), PreferredNodeId: req.GetPreferredNodeId(), NodeType: req.GetNodeType(),
		Describe: true,
	})
	if err != nil {
		return nil, err
	}
	resp := &toolv1.ResolveNodeResponse{RequiresSelection: choice.GetRequiresSelection(), AvailableNodes: choice.GetAvailableNodes()}
	switch {
	case choice.GetNodeId() == "":
	case choice.GetNode().GetInfo().GetNodeId() == choice.GetNodeId():
		resp.Node = choice.GetNode()
	default:
		resp.Node, err = s.describe(ctx, req, choice)
	}
	return resp, err
}

func sessionOf(req *toolv1.ResolveNodeRequest) *nodev1.GetSessionRequest {
	return &nodev1.GetSessionRequest{UserId: req.GetUserId(), SessionId: req.GetSessionId(), NodeType: req.GetNodeType()}
}

// preview says which node the registry would choose, without binding the session.
func (s *Service) preview(ctx context.Context, req *toolv1.ResolveNodeRequest) (*toolv1.ResolveNodeResponse, error) {
	session, err := s.Presence.Session(ctx, sessionOf(req))
	if err != nil {
		return nil, err
	}
	if session.GetNodeId() != "" {
		return &toolv1.ResolveNodeResponse{Node: session.GetNode()}, nil
	}
	if req.GetPreferredNodeId() != "" {
		// A node whose own status is offline is not available, but can be preferred.
		nodes, err := s.Presence.List(ctx, &nodev1.ListNodesRequest{UserId: req.GetUserId(), NodeType: req.GetNodeType()})
		if err != nil {
			return nil, err
		}
		if n := named(nodes, req.GetPreferredNodeId()); n != nil {
			return &toolv1.ResolveNodeResponse{Node: n}, nil
		}
	}
	available := session.GetAvailableNodes()
	if len(available) == 1 {
		return &toolv1.ResolveNodeResponse{Node: available[0]}, nil
	}
	return &toolv1.ResolveNodeResponse{RequiresSelection: len(available) > 1, AvailableNodes: available}, nil
}

func named(nodes []*nodev1.Node, id string) *nodev1.Node {
	for _, n := range nodes {
		if n.GetInfo().GetNodeId() == id {
			return n
		}
	}
	return nil
}

// describe looks up the chosen node. The registry remembers more about a node that a session is bound to than about others
// that are gone. If another request has bound the session to another node meanwhile, that node is the answer.
func (s *Service) describe(ctx context.Context, req *toolv1.ResolveNodeRequest, choice *nodev1.ResolveNodeResponse) (*nodev1.Node, error) {
	if choice.GetBound() {
		session, err := s.Presence.Session(ctx, sessionOf(req))
		if err != nil || session.GetNode() != nil {
			return session.GetNode(), err
		}
	}
	nodes, err := s.Presence.List(ctx, &nodev1.ListNodesRequest{UserId: req.GetUserId(), IncludeOffline: true})
	if err != nil {
		return nil, err
	}
	if n := named(nodes, choice.GetNodeId()); n != nil {
		return n, nil
	}
	// Gone since it was chosen.
	return &nodev1.Node{Info: &nodev1.NodeInfo{NodeId: choice.GetNodeId()}, Status: nodev1.NodeStatus_NODE_STATUS_OFFLINE}, nil
}

// GetTools implements ToolService.
func (s *Service) GetTools(ctx context.Context, req *toolv1.GetToolsRequest) (*toolv1.GetToolsResponse, error) {
	if err := errors.Join(ids.Check("user_id", req.GetUserId()), tooldef.CheckDigest(req.GetDigest())); err != nil {
		return nil, invalid("%v", err)
	}
	tools, err := s.Tools.Packed(ctx, ids.UserID(req.GetUserId()), req.GetDigest())
	if err == nil && len(tools) == 0 {
		err = status.Error(codes.NotFound, "no node of the user has definitions with this digest")
	}
	if err != nil {
		return nil, err
	}
	return &toolv1.GetToolsResponse{Tools: tools}, nil
}

// BindSession implements ToolService.
func (s *Service) BindSession(ctx context.Context, req *toolv1.BindSessionRequest) (*toolv1.BindSessionResponse, error) {
	if err := errors.Join(ids.Check("user_id", req.GetUserId()), ids.Check("session_id", req.GetSessionId()),
		ids.Check("node_id", req.GetNodeId())); err != nil {
		return nil, invalid("%v", err)
	}
	node, err := s.Presence.Bind(ctx, &nodev1.BindSessionRequest{
		UserId: req.GetUserId(), SessionId: req.GetSessionId(), NodeId: req.GetNodeId(),
	})
	if err != nil {
		return nil, err
	}
	return &toolv1.BindSessionResponse{Node: node}, nil
}
