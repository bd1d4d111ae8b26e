package grpcapi

import (
	"context"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
)

// ToolNames keeps the names of tools (package store).
type ToolNames interface {
	ClaimNames(ctx context.Context, user ids.UserID, claims []store.ToolName) ([]store.ToolName, error)
	ListNames(ctx context.Context, user ids.UserID) ([]store.ToolName, error)
}

// Names implements NameService.
type Names struct {
	agentv1.UnimplementedNameServiceServer
	Store ToolNames
}

// maxName is the length of the longest name, and of the longest tool name of a device, in bytes.
const maxName = 128

// ClaimNames implements NameService.
func (n *Names) ClaimNames(ctx context.Context, req *agentv1.ClaimNamesRequest) (*agentv1.ClaimNamesResponse, error) {
	user, err := auth.BehalfOf(ctx)
	if err != nil {
		return nil, err
	}
	if len(req.GetNames()) > store.MaxToolNames {
		return nil, errs.New(errs.InvalidArgument, "names has %d names, at most %d are allowed", len(req.GetNames()), store.MaxToolNames)
	}
	claims := make([]store.ToolName, len(req.GetNames()))
	for i, c := range req.GetNames() {
		if c.GetName() == "" || c.GetTool() == "" || len(c.GetName()) > maxName || len(c.GetTool()) > maxName {
			return nil, errs.New(errs.InvalidArgument, "names[%d] must have a name and a tool, of at most %d bytes", i, maxName)
		}
		if c.GetNodeId() != "" {
			if err := ids.Check("node_id", c.GetNodeId()); err != nil {
				return nil, err
			}
		}
		claims[i] = store.ToolName{Name: c.GetName(), Node: ids.NodeID(c.GetNodeId()), Tool: c.GetTool()}
	}
	held, err := n.Store.ClaimNames(ctx, user, claims)
	return &agentv1.ClaimNamesResponse{Names: bindings(held)}, err
}

// ListNames implements NameService.
func (n *Names) ListNames(ctx context.Context, _ *agentv1.ListNamesRequest) (*agentv1.ListNamesResponse, error) {
	user, err := auth.BehalfOf(ctx)
	if err != nil {
		return nil, err
	}
	all, err := n.Store.ListNames(ctx, user)
	return &agentv1.ListNamesResponse{Names: bindings(all)}, err
}

func bindings(names []store.ToolName) []*agentv1.NameBinding {
	list := make([]*agentv1.NameBinding, len(names))
	for i, n := range names {
		list[i] = &agentv1.NameBinding{Name: n.Name, NodeId: string(n.Node), Tool: n.Tool}
	}
	return list
}
