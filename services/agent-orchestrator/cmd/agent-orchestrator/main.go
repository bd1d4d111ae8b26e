// Command agent-orchestrator runs agents.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/process/lifecycle"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/app"
)

// version is set by the linker.
var version = "dev"

func main() {
	ctx, release := lifecycle.Signals(context.Background())
	err := run(ctx, os.Args[1:], os.Environ(), os.Stdout)
	release()
	if err != nil && !errors.Is(err, config.ErrHelp) {
		fmt.Fprintln(os.Stderr, "agent-orchestrator:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args, environ []string, out io.Writer) error {
	var cfg app.Settings
	sources := config.Sources{Program: "agent-orchestrator", Args: args, Environ: environ, Prefix: "HECATON_", Help: out}
	if len(args) > 0 && args[0] == obs.HealthcheckCommand {
		sources.Args = args[1:]
		return obs.Healthcheck(ctx, sources, func(s *app.Settings) string { return s.AdminAddr })
	}
	if err := config.Load(&cfg, sources); err != nil {
		return err
	}
	orchestrator, err := app.New(cfg.Config, app.Options{
		Logger: obs.NewLogger(out, cfg.Log.Level, cfg.Log.Format), Version: version,
	})
	if err != nil {
		return err
	}
	return orchestrator.Run(ctx)
}
