package allowlist

import (
	"github.com/hecaton-dev/hecaton/pkg/tool/tooldef"
	"slices"

	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/approval"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool/builtin"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool/knowledge"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool/oauth"
)

// NewUser is the allow-list of a user who has saved none: what only reads. Todo lists and sub-agents are on it, too: they
// change nothing but what the run itself knows, and what a sub-agent calls is decided on like any other call.
func NewUser() []store.AllowedTool {
	names := tooldef.Reads()
	for _, s := range specs() {
		if s.ReadOnly || s.Category == tool.TodoList || s.Category == tool.SubAgent {
			names = append(names, s.Name)
		}
	}
	slices.Sort(names)
	return approval.Names(slices.Compact(names)...)
}

// Ours reports whether a name by itself says which tool it is: one of Hecaton's own, or one that by Hecaton's table only
// reads, whichever node has it.
func Ours(name string) bool {
	return slices.Contains(tooldef.Reads(), name) || slices.ContainsFunc(specs(), func(s tool.Spec) bool { return s.Name == name })
}

// specs are the tools of Hecaton's own.
func specs() []tool.Spec {
	return slices.Concat(builtin.Specs(), knowledge.Specs(), oauth.Specs())
}
