package connector

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"

	"github.com/hecaton-dev/hecaton/pkg/nodetype"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

// Gateways reaches nodes (package toolclient).
type Gateways interface {
	// ResolveNode tells which node a session's calls go to.
	ResolveNode(ctx context.Context, req *toolv1.ResolveNodeRequest) (*toolv1.ResolveNodeResponse, error)
	// Call runs one tool; its error is an *errs.Error, or a gRPC status where the call could not be understood.
	Call(ctx context.Context, call *toolv1.Call) (*toolv1.Answer, error)
}

// listTimeout bounds the look at what there is: a run starts without its node's tools rather than late.
const listTimeout = 3 * time.Second

// Source has the tools of sessions' nodes. It is safe for concurrent use.
type Source struct {
	// Static after construction.
	gateways Gateways
	patience patience

	memory memory
}

// New returns a Source.
func New(gateways Gateways) *Source { return &Source{gateways: gateways, patience: usual} }

// Tools implements [tool.Source]. In plan mode there are none, and in ask mode nobody is told to use them: they would not run
// ([tool.Filter]).
func (s *Source) Tools(ctx context.Context, scope tool.Scope) (tool.Kit, error) {
	if scope.Mode == tool.ModePlan {
		return tool.Kit{}, nil
	}
	if l := s.memory.recall(scope); scope.Hurried && l != nil {
		return s.hurried(ctx, scope, l), nil
	}
	return s.look(ctx, scope).kit(s, scope).tools(), nil
}

// look asks which nodes there are.
func (s *Source) look(ctx context.Context, scope tool.Scope) *listing {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	resp, err := s.gateways.ResolveNode(ctx, &toolv1.ResolveNodeRequest{
		UserId: string(scope.User), SessionId: string(scope.Session), PreferredNodeId: scope.Preferred, DryRun: true,
	})
	if err != nil {
		return &listing{stale: true, problems: []string{"The tools of browsers and desktops are not available at the moment: " + failed(err).Message}}
	}
	return s.memory.keep(scope, newListing(resp, scope.Mode))
}

// hurried returns the tools of a listing that may be old by now, and looks meanwhile.
func (s *Source) hurried(ctx context.Context, scope tool.Scope, l *listing) tool.Kit {
	k := l.kit(s, scope)
	ctx, cancel := context.WithCancel(ctx)
	looked, same := make(chan struct{}), false
	go func() {
		defer close(looked)
		same = s.look(ctx, scope).outline == l.outline
		k.wrong.Store(!same)
	}()
	out := k.tools()
	out.Sure = func() bool {
		<-looked
		return same
	}
	out.Close = func() {
		cancel()
		<-looked
	}
	return out
}

// kit is the tools of one run.
type kit struct {
	// static after construction
	*listing
	gateways Gateways
	patience patience
	scope    tool.Scope
	listed   time.Time

	// stale says that a look now would show something else, wrong that a look has.
	stale, wrong atomic.Bool
}

func (k *kit) isStale() bool {
	return k.wrong.Load() || k.stale.Load() && time.Since(k.listed) >= k.patience.relist
}

func (k *kit) tools() tool.Kit {
	out := tool.Kit{Stale: k.isStale, Prompts: k.prompts, Problems: k.problems}
	for i := range k.specs {
		out.Tools = append(out.Tools, &nodeTool{kit: k, spec: &k.specs[i]})
	}
	return out
}

// describe names a node for a model: its name is the user's own.
func describe(n *nodev1.Node) string {
	info := n.GetInfo()
	kind := nodetype.Name(info.GetNodeType())
	if kind == "extension" {
		kind = "browser"
	}
	return fmt.Sprintf("the node %q (%s)", nameOf(n), strings.Join(strings.Fields(kind+" "+info.GetOs()), ", "))
}

func nameOf(n *nodev1.Node) string {
	if name := n.GetInfo().GetNodeName(); name != "" {
		return name
	}
	return n.GetInfo().GetNodeId()
}
