package tool_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

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

func TestFilter(t *testing.T) {
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
			for _, offered := range tool.Filter(mode, everything()) {
				spec := offered.Spec()
				result, err := offered.Call(t.Context(), tool.Invocation{})
				switch {
				case err != nil:
					t.Errorf("%s: %v", spec.Name, err)
				case result.Text == "ran "+spec.Name:
					runs = append(runs, spec.Name)
				default:
					placeholders = append(placeholders, spec.Name)
					if _, ok := offered.(tool.Placed); ok || !result.IsError || !strings.Contains(result.Text, "switch to Agent mode") {
						t.Errorf("%s is no placeholder: %+v", spec.Name, result)
					}
					if spec.Confirm || !spec.ReadOnly || !strings.Contains(spec.Description, "Agent mode") {
						t.Errorf("%s as a placeholder: %+v", spec.Name, spec)
					}
				}
			}
			if !slices.Equal(runs, want.runs) || !slices.Equal(placeholders, want.placeholders) {
				t.Errorf("runs %v, placeholders %v", runs, placeholders)
			}
		})
	}
}
