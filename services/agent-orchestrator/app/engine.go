package app

import (
	"context"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/toolclient"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/agent"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool/builtin"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool/connector"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool/mcp"
)

func (a *App) dialTools(context.Context) error {
	dial, err := a.cfg.Services.DialOptions()
	if err != nil {
		return err
	}
	a.tools, err = toolclient.Dial(toolclient.Options{
		Targets: a.cfg.Gateways, Dial: append(dial, a.tracing.DialOptions()...), Logger: a.log,
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

func (a *App) startEngine(ctx context.Context) error {
	a.engine = agent.New(agent.Config{
		// A pod that comes back under its name does not take itself for the one before.
		Owner:   string(ids.NewGatewayID(a.cfg.PodName)),
		Default: a.endpoint, DefaultWindow: a.cfg.OpenAIWindow, MaxRuns: a.cfg.MaxRuns, ResultBytes: int(a.cfg.MaxToolResult),
		DecideWithin: a.cfg.ApprovalTTL, LeaseFor: a.cfg.LeaseTTL,
	}, agent.Deps{
		Journal: a.store, Leases: a.store, Decisions: a.store, Model: a.model, Sources: a.sources(), Files: a.files,
		Publisher: a.live, Sealer: a.box, Logger: a.log, Metrics: a.metrics,
	})
	a.live.OnCancel(a.engine.Poke)
	return a.engine.Start(ctx)
}

func (a *App) stopEngine(ctx context.Context) error { return a.engine.Stop(ctx) }

// sources of tools, in the order in which a model is told of them (facts, 3.2).
func (a *App) sources() []tool.Source {
	return []tool.Source{
		mcp.NewSource(mcp.Options{Guard: a.guard, Stdio: a.cfg.MCPStdio, Logger: a.log}),
		builtin.NewFiles(a.files),
		connector.New(a.tools),
	}
}
