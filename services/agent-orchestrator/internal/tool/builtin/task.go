package builtin

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

// TaskTimeout is how long a sub-agent may take: as long as the slowest of its tools
// (docs/protocols/zeus-agents.md#tools-of-a-request).
const TaskTimeout = 1800 * time.Second

// TaskFunc has a sub-agent do the call with the [TaskPrompt] of its arguments. Its result is its last answer.
type TaskFunc func(ctx context.Context, in tool.Invocation) (tool.Result, error)

// NewTask returns the tool `task`, which hands work to a sub-agent (docs/protocols/zeus-agents.md#well-known-tools). Several
// of one answer run at the same time.
//
// Older clients of the reference say `agent` and `task` for `description` and `prompt`; so neither is required by the
// definition, and what is missing is told by the call.
func NewTask(run TaskFunc) tool.Tool {
	return function[taskArgs]{
		spec: tool.Spec{
			Name: "task", Layer: tool.Builtin, Category: tool.SubAgent, Parallel: true, Timeout: TaskTimeout,
			Description: "Hands a piece of work to a sub-agent with the same tools and a conversation of its own, and returns its answer. " +
				"It knows nothing but the prompt. Several sub-agents that are called in one answer work at the same time.",
			Parameters: json.RawMessage(`{"type":"object","properties":{` +
				`"description":{"type":"string","description":"A label of a few words, required"},` +
				`"prompt":{"type":"string","description":"All that the sub-agent has to know and what it is to return, required"}}}`),
		},
		run: func(ctx context.Context, in tool.Invocation, args taskArgs) (tool.Result, error) {
			if args.prompt() == "" {
				return tool.Result{}, invalid("arguments.prompt is missing; it is required")
			}
			return run(ctx, in)
		},
	}
}

// TaskPrompt is what the arguments of a call of `task` ask for; "" where they do not say.
func TaskPrompt(arguments []byte) string {
	var args taskArgs
	_ = json.Unmarshal(arguments, &args) // what cannot be read asks for nothing
	return args.prompt()
}

func (a taskArgs) prompt() string {
	if prompt := cmp.Or(a.Prompt, a.Task); strings.TrimSpace(prompt) != "" {
		return prompt
	}
	return ""
}

type taskArgs struct {
	Description string `json:"description"`
	Prompt      string `json:"prompt"`
	Agent       string `json:"agent"`
	Task        string `json:"task"`
}
