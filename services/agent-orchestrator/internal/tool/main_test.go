package tool_test

import (
	"context"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// plain is a tool that answers with its name.
type plain tool.Spec

func (p plain) Spec() tool.Spec { return tool.Spec(p) }

func (p plain) Call(context.Context, tool.Invocation) (tool.Result, error) {
	return tool.Result{Text: "ran " + p.Name}, nil
}

// placed is one that runs on a node.
type placed struct{ plain }

func (placed) Place(context.Context) (tool.Place, error) { return tool.Place{Node: "desk"}, nil }

func names(tools []tool.Tool) (out []string) {
	for _, t := range tools {
		out = append(out, t.Spec().Name)
	}
	return out
}
