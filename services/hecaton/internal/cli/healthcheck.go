package cli

import (
	"context"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
)

// healthcheckConfig is where the service beside this program serves its health: that of a gateway where nothing else is
// said.
type healthcheckConfig struct {
	AdminAddr string `conf:"admin-addr" env:"ADMIN_ADDR" default:"127.0.0.1:9180" help:"address of health, metrics and profiles"`
}

// healthcheck fails where that service is not ready. A container has no other program to ask with; its engine wants 1 as the
// code of every failure.
func healthcheck(ctx context.Context, e Env) error {
	sources := config.Sources{Program: "hecaton", Args: e.Args, Environ: e.Environ, Help: e.Stdout}
	return obs.Healthcheck(ctx, sources, func(c *healthcheckConfig) string { return c.AdminAddr })
}
