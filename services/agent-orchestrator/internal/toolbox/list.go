package toolbox

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	"github.com/hecaton-dev/hecaton/pkg/tool/tooldef"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

const (
	// listWithin is how long all servers together may take to list their tools: somebody waits for the list.
	listWithin = 2 * time.Second
	// maxListed bounds the definitions of one list, in bytes.
	maxListed = 16 << 20
)

// ListServiceTools implements ToolboxService. Of two tools with one key the first is taken.
func (s *Server) ListServiceTools(ctx context.Context, _ *agentv1.ListServiceToolsRequest) (*agentv1.ListServiceToolsResponse, error) {
	user, err := auth.BehalfOf(ctx)
	if err != nil {
		return nil, err
	}
	scope := tool.Scope{User: user, Mode: tool.ModeAgent}
	granted, err := s.OAuth.Tools(ctx, scope)
	if err != nil {
		return nil, err
	}
	within, stop := context.WithTimeout(ctx, listWithin)
	defer stop()
	served, err := s.MCP.Tools(within, scope)
	if err != nil {
		return nil, err
	}
	if served.Close != nil {
		defer served.Close()
	}
	out := &agentv1.ListServiceToolsResponse{Problems: append(granted.Problems, served.Problems...)}
	seen, size := map[string]bool{}, 0
	for _, t := range append(granted.Tools, served.Tools...) {
		listed := serviceTool(t)
		if seen[listed.GetKey()] {
			continue
		}
		if size += len(listed.GetDefinition()); size > maxListed {
			out.Problems = append(out.Problems, fmt.Sprintf("The tools from %q of %q on are left out: there are too many", listed.GetName(), listed.GetService()))
			break
		}
		seen[listed.GetKey()] = true
		out.Tools = append(out.Tools, listed)
	}
	return out, nil
}

func serviceTool(t tool.Tool) *agentv1.ServiceTool {
	spec := t.Spec()
	d := tooldef.Definition{Description: spec.Description, InputSchema: spec.Parameters, Annotations: tooldef.Annotations{ReadOnlyHint: &spec.ReadOnly}}
	if defined, ok := t.(tool.Defined); ok {
		d = defined.Definition()
	}
	return &agentv1.ServiceTool{
		Key: tool.Key(spec), Service: cmp.Or(spec.Server, spec.Provider), Name: spec.Name,
		Definition: d.AppendMembers(nil), ReadOnly: spec.ReadOnly,
	}
}
