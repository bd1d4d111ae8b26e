package cli

import (
	"context"
	"log/slog"

	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	orchestrator "github.com/hecaton-dev/hecaton/services/agent-orchestrator/app"
	gateway "github.com/hecaton-dev/hecaton/services/gateway/app"
	registry "github.com/hecaton-dev/hecaton/services/node-registry/app"
)

// app is a service that runs until ctx ends.
type app interface {
	Run(ctx context.Context) error
}

func runGateway(ctx context.Context, e Env) error {
	var cfg gateway.Settings
	return serve(ctx, e, "gateway", &cfg, &cfg.Log, func(log *slog.Logger) (app, error) {
		return gateway.New(cfg.Config, gateway.Options{Logger: log, Version: e.build()})
	})
}

func runRegistry(ctx context.Context, e Env) error {
	var cfg registry.Settings
	return serve(ctx, e, "node-registry", &cfg, &cfg.Log, func(log *slog.Logger) (app, error) {
		return registry.New(cfg.Config, registry.Options{Logger: log, Version: e.build()})
	})
}

func runOrchestrator(ctx context.Context, e Env) error {
	var cfg orchestrator.Settings
	return serve(ctx, e, "agent-orchestrator", &cfg, &cfg.Log, func(log *slog.Logger) (app, error) {
		return orchestrator.New(cfg.Config, orchestrator.Options{Logger: log, Version: e.build()})
	})
}

// serve runs one service as its own program would.
func serve(ctx context.Context, e Env, name string, cfg any, logging *obs.LogConfig, start func(*slog.Logger) (app, error)) error {
	if err := e.load(name, cfg, nil); err != nil {
		return err
	}
	a, err := start(e.logger(*logging))
	if err != nil {
		return err
	}
	return a.Run(ctx)
}
