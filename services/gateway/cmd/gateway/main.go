// Command gateway holds the connections of nodes and web clients, and routes calls to them.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/hecaton-dev/hecaton/pkg/auth"
	"github.com/hecaton-dev/hecaton/pkg/config"
	"github.com/hecaton-dev/hecaton/pkg/heap"
	"github.com/hecaton-dev/hecaton/pkg/lifecycle"
	"github.com/hecaton-dev/hecaton/pkg/obs"
	"github.com/hecaton-dev/hecaton/services/gateway/app"
)

// version is set by the linker.
var version = "dev"

func main() {
	heap.KeepHeadroom(heap.Headroom)
	ctx, release := lifecycle.Signals(context.Background())
	err := run(ctx, os.Args[1:], os.Environ(), os.Stdout)
	release()
	if err != nil && !errors.Is(err, config.ErrHelp) {
		fmt.Fprintln(os.Stderr, "gateway:", err)
		os.Exit(1)
	}
}

// settings are the gateway's configuration and what only a program of its own has to be asked.
type settings struct {
	app.Config
	OpenServices bool `conf:"open-services" env:"OPEN_SERVICES" help:"serve gRPC without mutual TLS or a service token: who reaches the port calls as any user"`
}

// Validate refuses to check the users at the front door while the back door is open.
func (s settings) Validate() error {
	err := s.Config.Validate()
	if s.Auth.Mode == auth.JWT && !s.Services.Enabled() && !s.OpenServices {
		err = errors.Join(err, errors.New("with --auth-mode jwt, gRPC must be closed to strangers: "+
			"set SERVICE_TOKEN or SERVICE_TLS_*, or --open-services where nobody else reaches the port"))
	}
	return err
}

func run(ctx context.Context, args, environ []string, out io.Writer) error {
	var cfg settings
	sources := config.Sources{Program: "gateway", Args: args, Environ: environ, Prefix: "HECATON_", Help: out}
	if err := config.Load(&cfg, sources); err != nil {
		return err
	}
	gateway, err := app.New(cfg.Config, app.Options{
		Logger: obs.NewLogger(out, cfg.Log.Level, cfg.Log.Format), Version: version,
	})
	if err != nil {
		return err
	}
	return gateway.Run(ctx)
}
