package app

import (
	"context"

	"github.com/hecaton-dev/hecaton/pkg/tool/toolclient"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/admission"
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
	saved, err := toolbox.NewSaved(toolbox.SavedOptions{Store: a.store, Box: a.box, Logger: a.log})
	if err != nil {
		return err
	}
	if err := saved.SealAll(ctx); err != nil {
		return err
	}
	servers, err := mcp.New(mcp.Options{Guard: a.guard, Saved: saved, Stdio: a.cfg.MCPStdio, Logger: a.log})
	if err != nil {
		return err
	}
	a.servers = servers
	if a.saved, err = toolbox.NewChanges(a.bus, servers, a.log); err != nil {
		return err
	}
	if a.oauth, err = oauth.New(oauth.Options{Config: a.cfg.OAuth, Saved: saved, Logger: a.log}); err != nil {
		return err
	}
	nodes, err := connector.New(connector.Options{Gateways: a.tools})
	if err != nil {
		return err
	}
	files, err := builtin.New(builtin.Options{Files: a.files})
	if err != nil {
		return err
	}
	if a.documents, err = a.dialKnowledge(); err != nil {
		return err
	}
	skills, err := builtin.NewSkills(builtin.SkillOptions{Library: a.skills, Nodes: a.tools})
	if err != nil {
		return err
	}
	// In the order in which a model is told of them (docs/protocols/zeus-agents.md#a-run).
	a.sources = []tool.Source{servers, a.oauth, files, skills, nodes}
	if a.documents != nil {
		a.sources = []tool.Source{servers, a.oauth, files, skills, a.documents, nodes}
	}
	if a.allowlist, err = allowlist.New(allowlist.Options{Nodes: a.tools, Servers: servers}); err != nil {
		return err
	}
	if a.admitter, err = admission.New(admission.Options{Store: a.store, Bus: a.bus, Logger: a.log}); err != nil {
		return err
	}
	a.toolbox, err = toolbox.New(toolbox.Options{
		Store: a.store, Box: a.box, Guard: a.guard, MCP: servers, OAuth: a.oauth, Gateways: a.tools, Admitter: a.admitter, Changes: a.saved,
		Stdio: a.cfg.MCPStdio,
	})
	return err
}

func (a *App) closeSources(context.Context) error {
	a.saved.Close()
	a.servers.Close()
	a.oauth.Close()
	a.guard.Close()
	if a.knowledge == nil {
		return nil
	}
	return a.knowledge.Close()
}
