package connector

import (
	"context"
	"fmt"
	"slices"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/tool/tooldef"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// newDefinitions asks gateways for the definitions of tools.
func newDefinitions(g Gateways) *tooldef.Cache {
	return tooldef.NewCache(func(ctx context.Context, user ids.UserID, digest string) ([]byte, error) {
		resp, err := g.GetTools(ctx, &toolv1.GetToolsRequest{UserId: string(user), Digest: digest})
		if status.Code(err) == codes.NotFound {
			return nil, nil
		}
		return resp.GetTools(), err
	})
}

// tools makes tools of what nodes offer; if several nodes offer a tool, the first one describes it. A node whose definitions cannot
// be had has the tools all the same.
func (k *runTools) tools(ctx context.Context, nodes []*nodev1.Node) (out []tool.Tool) {
	seen := map[string]bool{}
	for _, n := range nodes {
		given, err := k.definitions.Given(ctx, k.scope.User, n.GetInfo())
		if err != nil {
			k.stale.Store(true)
		}
		offered, _ := k.definitions.Offered(ctx, k.scope.User, n.GetInfo())
		for _, d := range offered {
			if seen[d.Name] {
				continue
			}
			seen[d.Name] = true
			_, own := given[d.Name]
			out = append(out, &nodeTool{runTools: k, spec: specOf(d, own, n.GetInfo())})
		}
	}
	return out
}

// specOf describes a tool of a node; own says that the definition is the node's. Whether the tool only reads, the node has no say
// in.
func specOf(d tooldef.Definition, own bool, n *nodev1.NodeInfo) tool.Spec {
	spec := tool.Spec{
		Name: d.Name, Description: d.Description, Parameters: slices.Clone(d.InputSchema), Layer: tool.Connector, Category: tool.Device,
		Timeout: tooldef.LongestTimeout(d.Name), ReadOnly: tooldef.KnownReadOnly(d.Name, n.GetNodeType()),
	}
	if own {
		spec.Description = fmt.Sprintf("A tool of %s, which does not describe it.", tooldef.Describe(n))
		if d.Description != "" {
			spec.Description = fmt.Sprintf("A tool of %s, which describes it so: %s", tooldef.Describe(n), tool.Quote(d.Description, maxDescription))
		}
	}
	return spec
}

// maxDescription bounds what a model is told of a tool, in bytes.
const maxDescription = 4 << 10
