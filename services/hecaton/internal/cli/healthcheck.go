package cli

import (
	"context"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
)

// healthcheckConfig is where the service in the same container serves its health; by default, where a gateway does.
type healthcheckConfig struct {
	AdminAddr string `conf:"admin-addr" env:"ADMIN_ADDR" default:"127.0.0.1:9180" help:"address of health, metrics and profiles"`
}

// healthcheck fails if that service is not ready. It exits with 1 for every failure, as container engines expect.
func healthcheck(ctx context.Context, e Env) error {
	sources := config.Sources{Program: "hecaton", Args: e.Args, Environ: e.Environ, Help: e.Stdout}
	return obs.Healthcheck(ctx, sources, func(c *healthcheckConfig) string { return c.AdminAddr })
}
