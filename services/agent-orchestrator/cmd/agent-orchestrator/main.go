// Command agent-orchestrator runs agents.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/hecaton-dev/hecaton/pkg/config"
	"github.com/hecaton-dev/hecaton/pkg/lifecycle"
	"github.com/hecaton-dev/hecaton/pkg/obs"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/app"
)

// version is set by the linker.
var version = "dev"

func main() {
	if err := run(); err != nil && !errors.Is(err, config.ErrHelp) {
		fmt.Fprintln(os.Stderr, "agent-orchestrator:", err)
		os.Exit(1)
	}
}

func run() error {
	var cfg app.Config
	if err := config.Load(&cfg, config.Sources{
		Program: "agent-orchestrator", Args: os.Args[1:], Environ: os.Environ(), Prefix: "HECATON_",
	}); err != nil {
		return err
	}
	orchestrator, err := app.New(cfg, app.Options{
		Logger: obs.NewLogger(os.Stdout, cfg.Log.Level, cfg.Log.Format), Version: version,
	})
	if err != nil {
		return err
	}
	ctx, release := lifecycle.Signals(context.Background())
	defer release()
	return orchestrator.Run(ctx)
}
