package agent

import (
	"context"

	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool/builtin"
)

// ownTools are the built-in tools that work on the run itself.
func (r *run) ownTools() []tool.Tool {
	// Sub-agents search the run's catalogue, too.
	search := func(query string) tool.Result { return r.toolset.catalogue.Search(r.names, query) }
	delegate := func(ctx context.Context, in tool.Invocation) (tool.Result, error) {
		return (&subAgent{conv: r.conversations.main.subAgents[in.CallID], gate: r.gate}).work(ctx)
	}
	own := append(r.todos.Tools(r.deps.Files), builtin.NewTask(delegate), builtin.NewFind(search))
	if r.remembers() && r.settings.mode() != tool.ModeAsk {
		own = append(own, builtin.NewMemory(r.deps.Memories, r.settings.Invoke.GetProjectId())...)
	}
	return own
}
