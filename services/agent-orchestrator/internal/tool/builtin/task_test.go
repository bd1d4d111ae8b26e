package builtin_test

import (
	"context"
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool/builtin"
)

func TestTask(t *testing.T) {
	t.Parallel()
	tools := []tool.Tool{builtin.NewTask(func(_ context.Context, in tool.Invocation) (tool.Result, error) {
		return tool.Result{Text: string(in.User) + "|" + builtin.TaskPrompt(in.Args)}, nil
	})}
	if spec := tools[0].Spec(); !spec.Parallel || spec.Timeout != builtin.TaskTimeout || spec.Category != tool.SubAgent {
		t.Errorf("%+v", spec)
	}
	for want, args := range map[string]object{
		"ana|find it":                         {"description": "look", "prompt": "find it"},
		"ana|find that":                       {"agent": "researcher", "task": "find that"}, // the reference's older form
		"invalid arguments.prompt is missing": {"description": "look", "prompt": " "},
		"invalid arguments.prompt must be":    {"prompt": 7},
	} {
		if got := call(t, tools, "task", args); !strings.HasPrefix(got, want) {
			t.Errorf("%v: %s", args, got)
		}
	}
}
