package app

import (
	"context"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/agent"
)

func (a *App) startEngine(ctx context.Context) error {
	cfg := agent.Config{
		// A random part: a pod that comes back under its name must not renew the leases of the one before.
		Owner:   string(ids.NewGatewayID(a.cfg.PodName)),
		Default: a.endpoint, DefaultWindow: a.cfg.OpenAIWindow, MaxRuns: a.cfg.MaxRuns,
		RunsPerUser: a.cfg.Limits.Runs, ResultBytes: int(a.cfg.MaxToolResult),
		ToolTokens: a.cfg.ToolTokens, HeadStart: a.cfg.HeadStart, DecideWithin: a.cfg.ApprovalTTL, LeaseFor: a.cfg.LeaseTTL,
	}
	var bases agent.Knowledge
	if a.documents != nil {
		bases = a.documents
	}
	engine, err := agent.New(agent.Options{
		Config: cfg, Knowledge: bases, Journal: a.store, Leases: a.store, Decisions: a.store, Model: a.model, Addresses: a.guard, Sources: a.sources, Skills: a.skills, Memories: a.memories, Files: a.files,
		Publisher: a.live, Sealer: a.box, Logger: a.log, Metrics: a.metrics, Tracing: a.tracing,
	})
	if err != nil {
		return err
	}
	a.engine = engine
	a.metrics.MustRegister(engine.Census(a.store))
	a.live.OnCancel(a.engine.Poke)
	return a.engine.Start(ctx)
}

func (a *App) stopEngine(ctx context.Context) error { return a.engine.Stop(ctx) }
