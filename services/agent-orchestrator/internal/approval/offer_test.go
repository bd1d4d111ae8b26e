package approval_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/approval"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

// plain is a tool of a spec.
type plain tool.Spec

func (p plain) Spec() tool.Spec { return tool.Spec(p) }

func (p plain) Call(context.Context, tool.Invocation) (tool.Result, error) {
	return tool.Result{Text: "ran " + p.Name}, nil
}

// placed is one of a node.
type placed struct{ plain }

func (placed) Place(context.Context) (tool.Place, error) { return tool.Place{Node: "desk"}, nil }

func names(tools []tool.Tool) (out []string) {
	for _, t := range tools {
		out = append(out, t.Spec().Name)
	}
	return out
}

func everything() []tool.Tool {
	return []tool.Tool{
		plain{Name: "workspace_read", Layer: tool.Builtin, Category: tool.Filesystem, ReadOnly: true},
		plain{Name: "workspace_write", Layer: tool.Builtin, Category: tool.Filesystem},
		plain{Name: "write_todos", Layer: tool.Builtin, Category: tool.TodoList},
		plain{Name: "task", Layer: tool.Builtin, Category: tool.SubAgent, Parallel: true},
		plain{Name: "find", Layer: tool.MCP, Category: tool.Service, ReadOnly: true},
		plain{Name: "send_mail", Layer: tool.OAuth, Category: tool.Service, Confirm: true},
		placed{plain{Name: "screenshot", Layer: tool.Connector, Category: tool.Device, ReadOnly: true}},
		placed{plain{Name: "click", Layer: tool.Connector, Category: tool.Device}},
	}
}

func TestOffer(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]struct{ runs, placeholders []string }{
		tool.ModeAgent: {runs: names(everything())},
		tool.ModeAsk: {
			runs:         []string{"workspace_read", "write_todos", "task", "find"},
			placeholders: []string{"workspace_write", "send_mail", "screenshot", "click"},
		},
		tool.ModePlan: {runs: []string{"workspace_read", "write_todos", "task", "find"}},
		"unheard of":  {runs: []string{"workspace_read", "write_todos", "task", "find"}},
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			var runs, placeholders []string
			policy := approval.Policy{RunMode: mode, Mode: approval.RunEverything}
			for _, offered := range policy.Offer(everything()) {
				spec := offered.Spec()
				result, err := offered.Call(t.Context(), tool.Invocation{})
				decision := policy.Decide(spec, tool.Place{})
				if err == nil && result.Text == "ran "+spec.Name {
					runs = append(runs, spec.Name)
					if decision.Verdict == approval.Refuse {
						t.Errorf("%s is offered and refused", spec.Name)
					}
					continue
				}
				placeholders = append(placeholders, spec.Name)
				_, ok := offered.(tool.Placed)
				if ok || decision.Verdict != approval.Refuse || !strings.Contains(err.Error(), "switch to Agent mode") ||
					!strings.Contains(spec.Description, "Agent mode") {
					t.Errorf("%s is no placeholder: %+v, %v, %+v", spec.Name, result, err, decision)
				}
			}
			if !slices.Equal(runs, want.runs) || !slices.Equal(placeholders, want.placeholders) {
				t.Errorf("runs %v, placeholders %v", runs, placeholders)
			}
		})
	}
}
