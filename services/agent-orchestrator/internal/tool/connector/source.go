package connector

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/node/nodetype"
	"github.com/hecaton-dev/hecaton/pkg/process/options"
	"github.com/hecaton-dev/hecaton/pkg/tool/tooldef"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

// Gateways reaches nodes (package toolclient).
type Gateways interface {
	// ResolveNode tells which node a session's calls go to.
	ResolveNode(ctx context.Context, req *toolv1.ResolveNodeRequest) (*toolv1.ResolveNodeResponse, error)
	// ListNodes returns a user's nodes, also those that disconnected within the last minute.
	ListNodes(ctx context.Context, req *toolv1.ListNodesRequest) (*toolv1.ListNodesResponse, error)
	// GetTools returns the definitions that a node gave of its tools.
	GetTools(ctx context.Context, req *toolv1.GetToolsRequest) (*toolv1.GetToolsResponse, error)
	// Call runs one tool; its error is an *errs.Error, or a gRPC status if the call was malformed.
	Call(ctx context.Context, call *toolv1.Call) (*toolv1.Answer, error)
}

// listTimeout bounds the listing of nodes: a run starts without its node's tools rather than late.
const listTimeout = 3 * time.Second

// Source has the tools of sessions' nodes. It is safe for concurrent use.
type Source struct {
	// Static after construction.
	gateways    Gateways
	definitions *tooldef.Cache
	patience    patience
}

// Options of a Source.
type Options struct {
	// Gateways reach the nodes; required.
	Gateways Gateways
}

// New checks the options and returns a Source.
func New(o Options) (*Source, error) {
	if err := options.Require("connector", map[string]bool{"Gateways": o.Gateways == nil}); err != nil {
		return nil, err
	}
	return &Source{gateways: o.Gateways, definitions: newDefinitions(o.Gateways), patience: usual}, nil
}

// Tools implements [tool.Source]. In plan mode there are none, and in ask mode the model is not told to use them: they would
// not run (approval.Policy.Offer).
func (s *Source) Tools(ctx context.Context, scope tool.Scope) (tool.Listing, error) {
	if scope.Mode == tool.ModePlan {
		return tool.Listing{}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	k := &runTools{gateways: s.gateways, definitions: s.definitions, patience: s.patience, scope: scope}
	resp, err := k.look(ctx)
	k.listed = time.Now()
	if err != nil {
		k.stale.Store(true)
		failure := failed(err)
		out := tool.Listing{Stale: k.isStale, Problems: []string{"The tools of browsers and desktops are not available at the moment: " + failure.Message}}
		if failure.Outcome != tool.Invalid { // an invalid question stays invalid
			out.Unlisted = unsent(errs.BusUnavailable, "the tools of browsers and desktops could not be looked up just now, so whether "+
				"one has this name is not known; call it again in a few seconds")
		}
		return out, nil
	}
	nodes := resp.GetAvailableNodes()
	if n := resp.GetNode(); n != nil {
		nodes, k.node = []*nodev1.Node{n}, n.GetInfo().GetNodeId()
	}
	out := tool.Listing{Tools: k.tools(ctx, nodes), Stale: k.isStale}
	for _, n := range nodes {
		if kind := nodetype.Name(n.GetInfo().GetNodeType()); n.GetIsConnected() && !slices.Contains(out.Connected, kind) {
			out.Connected = append(out.Connected, kind)
		}
		switch {
		case !n.GetIsConnected():
			out.Problems = append(out.Problems, describe(n)+" is not connected; its tools can be called once it is back.")
			k.stale.Store(true)
		case len(n.GetInfo().GetAvailableTools()) > 0 && scope.Mode == tool.ModeAgent:
			out.Remarks = append(out.Remarks, tool.Remark{Kind: "connected node", Of: tooldef.NodeName(n.GetInfo()), Text: tooldef.NodeKind(n.GetInfo())})
		}
	}
	return out, nil
}

// runTools is the tools of one run.
type runTools struct {
	// static after construction
	gateways    Gateways
	definitions *tooldef.Cache
	patience    patience
	scope       tool.Scope
	node        string // the node whose tools were listed; "" if no node is chosen
	listed      time.Time

	// stale says that listing the tools now would give others.
	stale atomic.Bool

	memory memory
}

func (k *runTools) isStale() bool { return k.stale.Load() && time.Since(k.listed) >= k.patience.relist }

// describe names a node for a model.
func describe(n *nodev1.Node) string { return tooldef.Describe(n.GetInfo()) }
