package app

import (
	"context"

	"github.com/hecaton-dev/hecaton/pkg/tool/toolclient"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/allowlist"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool/builtin"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool/connector"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool/mcp"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool/oauth"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/toolbox"
)

func (a *App) dialTools(context.Context) error {
	dial, err := a.cfg.Services.DialOptions()
	if err != nil {
		return err
	}
	a.tools, err = toolclient.Dial(toolclient.Options{
		Targets: a.cfg.Gateways, Dial: append(dial, a.tracing.DialOptions()...), Tracing: a.tracing, Logger: a.log,
	})
	if err != nil {
		return err
	}
	a.ready.Watch("gateways", a.tools.Ready)
	return nil
}

func (a *App) closeTools(context.Context) error {
	a.tools.Close()
	return nil
}

// openSources finds the tools of runs, and of those who try them.
func (a *App) openSources(ctx context.Context) (err error) {
	saved := toolbox.NewSaved(a.store, a.box, a.log)
	if err := saved.SealAll(ctx); err != nil {
		return err
	}
	servers := mcp.NewSource(mcp.Options{Guard: a.guard, Saved: saved, Stdio: a.cfg.MCPStdio, Logger: a.log})
	if a.oauth, err = oauth.NewSource(a.cfg.OAuth, saved, a.log); err != nil {
		return err
	}
	// In the order in which a model is told of them (docs/protocols/zeus-agents.md#a-run).
	a.sources = []tool.Source{servers, a.oauth, builtin.NewFiles(a.files), connector.New(a.tools)}
	a.allowlist = allowlist.New(a.tools, servers)
	a.toolbox = toolbox.NewServer(toolbox.Parts{
		Store: a.store, Box: a.box, Guard: a.guard, MCP: servers, OAuth: a.oauth, Gateways: a.tools, Stdio: a.cfg.MCPStdio,
	})
	return nil
}

func (a *App) closeSources(context.Context) error {
	a.oauth.Close()
	a.guard.Close()
	return nil
}
