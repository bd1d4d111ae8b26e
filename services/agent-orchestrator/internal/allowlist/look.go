package allowlist

import (
	"context"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/approval"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool/connector"
)

// Nodes lists a user's nodes (package toolclient).
type Nodes interface {
	ListNodes(ctx context.Context, req *toolv1.ListNodesRequest) (*toolv1.ListNodesResponse, error)
}

// serversWithin bounds the look at a user's MCP servers: one that is slow counts as one that cannot be reached.
const serversWithin = 5 * time.Second

// looking is one look at what a user's sources offer; it asks each kind at most once.
type looking struct {
	r    *Resolver
	user ids.UserID

	seen map[string][]store.AllowedTool // by layer
}

// at returns the entries of what a layer offers now; nothing for layers of ours, whose tools nobody else changes.
func (l *looking) at(ctx context.Context, layer string) ([]store.AllowedTool, error) {
	if list, ok := l.seen[layer]; ok {
		return list, nil
	}
	var list []store.AllowedTool
	var err error
	switch tool.Layer(layer) {
	case tool.Connector:
		list, err = l.atNodes(ctx)
	case tool.MCP:
		list, err = l.atServers(ctx)
	case tool.Builtin, tool.OAuth:
	}
	if err == nil {
		if l.seen == nil {
			l.seen = map[string][]store.AllowedTool{}
		}
		l.seen[layer] = list
	}
	return list, err
}

func (l *looking) atNodes(ctx context.Context) (list []store.AllowedTool, err error) {
	resp, err := l.r.nodes.ListNodes(ctx, &toolv1.ListNodesRequest{UserId: string(l.user), IncludeOffline: true})
	if err != nil {
		return nil, err
	}
	for _, n := range resp.GetNodes() {
		at := tool.Place{Node: n.GetInfo().GetNodeId(), Mark: connector.Mark(n)}
		for _, name := range n.GetInfo().GetAvailableTools() {
			list = append(list, approval.Entry(tool.Spec{Name: name, Layer: tool.Connector}, at))
		}
	}
	return list, nil
}

func (l *looking) atServers(ctx context.Context) (list []store.AllowedTool, err error) {
	ctx, cancel := context.WithTimeout(ctx, serversWithin)
	defer cancel()
	listing, err := l.r.servers.Tools(ctx, tool.Scope{User: l.user, Mode: tool.ModeAgent})
	if err != nil {
		return nil, err
	}
	if listing.Close != nil {
		defer listing.Close()
	}
	for _, t := range listing.Tools {
		list = append(list, approval.Entry(t.Spec(), tool.Place{}))
	}
	return list, nil
}

// meant are the tools that a run would offer under a name: those of nodes, else that of the only server which has it, or
// which the name itself names.
func (l *looking) meant(ctx context.Context, name string) ([]store.AllowedTool, error) {
	nodes, err := l.at(ctx, string(tool.Connector))
	if err != nil {
		return nil, err
	}
	if found := standing(nodes, name); len(found) > 0 {
		return found, nil
	}
	servers, err := l.at(ctx, string(tool.MCP))
	if err != nil {
		return nil, err
	}
	if found := standing(servers, name); len(found) == 1 {
		return found, nil
	}
	return nil, nil
}
