package cli

import (
	"context"
	"errors"
	"log/slog"

	"github.com/hecaton-dev/hecaton/pkg/auth"
	"github.com/hecaton-dev/hecaton/pkg/obs"
	orchestrator "github.com/hecaton-dev/hecaton/services/agent-orchestrator/app"
	gateway "github.com/hecaton-dev/hecaton/services/gateway/app"
	registry "github.com/hecaton-dev/hecaton/services/node-registry/app"
)

// gatewaySettings are those of the gateway's own program.
type gatewaySettings struct {
	gateway.Config
	OpenServices bool `conf:"open-services" env:"OPEN_SERVICES" help:"serve gRPC without mutual TLS or a service token: who reaches the port calls as any user"`
}

// Validate refuses to check the users at the front door while the back door is open.
func (s gatewaySettings) Validate() error {
	err := s.Config.Validate()
	if s.Auth.Mode == auth.JWT && !s.Services.Enabled() && !s.OpenServices {
		err = errors.Join(err, errors.New("with --auth-mode jwt, gRPC must be closed to strangers: "+
			"set SERVICE_TOKEN or SERVICE_TLS_*, or --open-services where nobody else reaches the port"))
	}
	return err
}

// app is a service that runs until ctx ends.
type app interface {
	Run(ctx context.Context) error
}

func runGateway(ctx context.Context, e Env) error {
	var cfg gatewaySettings
	return serve(ctx, e, "gateway", &cfg, &cfg.Log, func(log *slog.Logger) (app, error) {
		return gateway.New(cfg.Config, gateway.Options{Logger: log, Version: e.build()})
	})
}

func runRegistry(ctx context.Context, e Env) error {
	var cfg registry.Config
	return serve(ctx, e, "node-registry", &cfg, &cfg.Log, func(log *slog.Logger) (app, error) {
		return registry.New(cfg, registry.Options{Logger: log, Version: e.build()})
	})
}

func runOrchestrator(ctx context.Context, e Env) error {
	var cfg orchestrator.Config
	return serve(ctx, e, "agent-orchestrator", &cfg, &cfg.Log, func(log *slog.Logger) (app, error) {
		return orchestrator.New(cfg, orchestrator.Options{Logger: log, Version: e.build()})
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
