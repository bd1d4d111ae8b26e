package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/process/heap"
	"github.com/hecaton-dev/hecaton/pkg/process/lifecycle"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
)

// prefix marks the variables of the environment that are the program's own.
const prefix = "HECATON_"

// App is a service that was configured.
type App interface {
	// Run serves until ctx ends, and returns when everything has stopped.
	Run(ctx context.Context) error
}

// Settings are the configuration of a service that is a program of its own (package config).
type Settings interface {
	// Process returns what the program itself needs of them.
	Process() Process
}

// Process is what every service's settings have.
type Process struct {
	AdminAddr string // of health, metrics and profiles
	Log       obs.LogConfig
}

// Program is a service as a program of its own.
type Program[S Settings] struct {
	// Name is that of the program, in its usage and before its errors.
	Name string
	// New makes the service of settings that were read and are valid. version is what the pod says of its build.
	New func(settings S, log *slog.Logger, version string) (App, error)
	// Headroom is for [heap.KeepHeadroom], in bytes; 0 leaves the pace of garbage collection to Go.
	Headroom uint64
}

// Main runs the program and ends the process: with 0 where it was told to stop or was asked for help, else with 1, and
// the error on standard error.
func (p Program[S]) Main(version string) {
	if p.Headroom > 0 {
		heap.KeepHeadroom(p.Headroom)
	}
	ctx, release := lifecycle.Signals(context.Background())
	err := p.Run(ctx, os.Args[1:], os.Environ(), os.Stdout, version)
	release()
	if err != nil && !errors.Is(err, config.ErrHelp) {
		fmt.Fprintf(os.Stderr, "%s: %v\n", p.Name, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Run serves until ctx ends; or, where the first argument is [obs.HealthcheckCommand], asks the service beside it how it
// is. Logs, and the help that was asked for, go to out. The error is [config.ErrHelp] after help.
func (p Program[S]) Run(ctx context.Context, args, environ []string, out io.Writer, version string) error {
	sources := config.Sources{Program: p.Name, Args: args, Environ: environ, Prefix: prefix, Help: out}
	if len(args) > 0 && args[0] == obs.HealthcheckCommand {
		sources.Args = args[1:]
		return obs.Healthcheck(ctx, sources, func(s *S) string { return (*s).Process().AdminAddr })
	}
	var settings S
	if err := config.Load(&settings, sources); err != nil {
		return err
	}
	logging := settings.Process().Log
	return p.Serve(ctx, settings, obs.NewLogger(out, logging.Level, logging.Format), version)
}

// Serve runs the service with these settings until ctx ends.
func (p Program[S]) Serve(ctx context.Context, settings S, log *slog.Logger, version string) error {
	app, err := p.New(settings, log, version)
	if err != nil {
		return err
	}
	return app.Run(ctx)
}
