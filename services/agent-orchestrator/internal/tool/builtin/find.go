package builtin

import (
	"context"
	"encoding/json"

	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

// FindTools is the name of the tool that looks up others.
const FindTools = "find_tools"

// FindFunc looks up tools for a query, and has them offered from then on. Its result is their definitions.
type FindFunc func(query string) tool.Result

// NewFind returns the tool `find_tools`, for a model that cannot be told of all tools at once.
func NewFind(find FindFunc) tool.Tool {
	return function[findArgs]{
		spec: tool.Spec{
			Name: FindTools, Layer: tool.Builtin, Category: tool.Lookup, ReadOnly: true,
			Description: "There are more tools than are offered here. This searches all of them, and returns the definitions of those that " +
				"fit best. They are offered from then on.",
			Parameters: json.RawMessage(`{"type":"object","required":["query"],"properties":{` +
				`"query":{"type":"string","description":"A few words of what the tool does, or its name"}}}`),
		},
		run: func(_ context.Context, _ tool.Invocation, args findArgs) (tool.Result, error) {
			return find(args.Query), nil
		},
	}
}

type findArgs struct {
	Query string `json:"query"`
}
