package grpcapi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/tool/tooldef"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/node-registry/internal/binding"
	"github.com/hecaton-dev/hecaton/services/node-registry/internal/store"
)

// defaultReportTTL is how long a report counts that does not say: "a few seconds".
const defaultReportTTL = 5 * time.Second

// ListNodes implements NodeRegistryService.
func (s *Server) ListNodes(ctx context.Context, req *nodev1.ListNodesRequest) (*nodev1.ListNodesResponse, error) {
	if err := ids.Check("user_id", req.GetUserId()); err != nil {
		return nil, err
	}
	list := s.Lister.Nodes
	if req.GetIncludeOffline() {
		list = s.Lister.NodesAndGone
	}
	nodes, err := list(ctx, ids.UserID(req.GetUserId()))
	if err != nil {
		return nil, err
	}
	if want := req.GetNodeType(); want != nodev1.NodeType_NODE_TYPE_UNSPECIFIED {
		nodes = slices.DeleteFunc(nodes, func(n *nodev1.Node) bool { return n.GetInfo().GetNodeType() != want })
	}
	return &nodev1.ListNodesResponse{Nodes: nodes}, nil
}

// GetTools implements NodeRegistryService.
func (s *Server) GetTools(ctx context.Context, req *nodev1.GetToolsRequest) (*nodev1.GetToolsResponse, error) {
	if err := ids.Check("user_id", req.GetUserId()); err != nil {
		return nil, err
	}
	if err := tooldef.CheckDigest(req.GetDigest()); err != nil {
		return nil, status.Error(codes.InvalidArgument, err.Error())
	}
	tools, err := s.Lister.Tools(ctx, ids.UserID(req.GetUserId()), req.GetDigest())
	if errors.Is(err, store.ErrNoTools) {
		return nil, status.Error(codes.NotFound, err.Error())
	}
	if err != nil {
		return nil, err
	}
	return &nodev1.GetToolsResponse{Tools: tools}, nil
}

// BindSession implements NodeRegistryService.
func (s *Server) BindSession(ctx context.Context, req *nodev1.BindSessionRequest) (*nodev1.BindSessionResponse, error) {
	user, session, err := sessionOf(req)
	if err != nil {
		return nil, err
	}
	if err := ids.Check("node_id", req.GetNodeId()); err != nil {
		return nil, err
	}
	node, err := s.Resolver.Bind(ctx, user, session, ids.NodeID(req.GetNodeId()))
	if errors.Is(err, store.ErrNeverSeen) {
		return nil, status.Error(codes.NotFound, "the user has never had a node with this id")
	}
	if err != nil {
		return nil, err
	}
	return &nodev1.BindSessionResponse{Node: node}, nil
}

// GetSession implements NodeRegistryService.
func (s *Server) GetSession(ctx context.Context, req *nodev1.GetSessionRequest) (*nodev1.GetSessionResponse, error) {
	user, session, err := sessionOf(req)
	if err != nil {
		return nil, err
	}
	state, err := s.Resolver.Get(ctx, user, session, req.GetNodeType())
	if err != nil {
		return nil, err
	}
	return &nodev1.GetSessionResponse{
		NodeId:            state.Node.GetInfo().GetNodeId(),
		Node:              state.Node,
		RequiresSelection: len(state.Available) > 1,
		AvailableNodes:    state.Available,
	}, nil
}

// ResolveNode implements NodeRegistryService.
func (s *Server) ResolveNode(ctx context.Context, req *nodev1.ResolveNodeRequest) (*nodev1.ResolveNodeResponse, error) {
	err := ids.Check("user_id", req.GetUserId())
	if id := req.GetSessionId(); id != "" {
		err = errors.Join(err, ids.Check("session_id", id))
	}
	if id := req.GetPreferredNodeId(); id != "" {
		err = errors.Join(err, ids.Check("preferred_node_id", id))
	}
	if err != nil {
		return nil, err
	}
	choice, err := s.Resolver.Resolve(ctx, binding.Query{
		User:      ids.UserID(req.GetUserId()),
		Session:   ids.SessionID(req.GetSessionId()),
		Preferred: ids.NodeID(req.GetPreferredNodeId()),
		Type:      req.GetNodeType(),
		Describe:  req.GetDescribe(),
	})
	if err != nil {
		return nil, err
	}
	return &nodev1.ResolveNodeResponse{
		NodeId:            string(choice.Node),
		Bound:             choice.Bound,
		RequiresSelection: len(choice.Selection) > 0,
		AvailableNodes:    choice.Selection,
		Node:              choice.Described,
	}, nil
}

// sessionOf checks the ids that every request about a session has.
func sessionOf(req interface {
	GetUserId() string
	GetSessionId() string
}) (ids.UserID, ids.SessionID, error) {
	err := errors.Join(ids.Check("user_id", req.GetUserId()), ids.Check("session_id", req.GetSessionId()))
	return ids.UserID(req.GetUserId()), ids.SessionID(req.GetSessionId()), err
}

// ReportGateway implements NodeRegistryService.
func (s *Server) ReportGateway(ctx context.Context, req *nodev1.ReportGatewayRequest) (*nodev1.ReportGatewayResponse, error) {
	if err := ids.Check("gateway_id", req.GetGatewayId()); err != nil {
		return nil, err
	}
	ttl := defaultReportTTL
	if req.GetTtl() != nil {
		ttl = req.GetTtl().AsDuration()
	}
	if ttl < time.Millisecond {
		return nil, status.Error(codes.InvalidArgument, fmt.Sprintf("ttl is %v, it must be at least 1ms", ttl))
	}
	known, err := s.Reporter.ReportGateway(ctx, ids.GatewayID(req.GetGatewayId()), req.GetStats(), ttl)
	if err != nil {
		return nil, err
	}
	return &nodev1.ReportGatewayResponse{Known: known}, nil
}

// GetStats implements NodeRegistryService.
func (s *Server) GetStats(ctx context.Context, _ *nodev1.GetStatsRequest) (*nodev1.GetStatsResponse, error) {
	return s.Totals.Get(ctx)
}
