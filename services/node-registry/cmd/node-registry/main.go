// Command node-registry keeps presence: which nodes exist, who holds them, and which session talks to which node.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/redis/go-redis/v9"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/process/lifecycle"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/services/node-registry/app"
)

// version is set by the linker.
var version = "dev"

func main() {
	ctx, release := lifecycle.Signals(context.Background())
	err := run(ctx, os.Args[1:], os.Environ(), os.Stdout)
	release()
	if err != nil && !errors.Is(err, config.ErrHelp) {
		fmt.Fprintln(os.Stderr, "node-registry:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args, environ []string, out io.Writer) error {
	var cfg app.Settings
	sources := config.Sources{Program: "node-registry", Args: args, Environ: environ, Help: out}
	if len(args) > 0 && args[0] == obs.HealthcheckCommand {
		sources.Args = args[1:]
		return obs.Healthcheck(ctx, sources, func(s *app.Settings) string { return s.AdminAddr })
	}
	if err := config.Load(&cfg, sources); err != nil {
		return err
	}
	log := obs.NewLogger(out, cfg.Log.Level, cfg.Log.Format)
	redis.SetLogger(redisLog{log})
	registry, err := app.New(cfg.Config, app.Options{Logger: log, Version: version})
	if err != nil {
		return err
	}
	return registry.Run(ctx)
}

// redisLog takes what go-redis would print as plain text. What fails is said by whoever asked Redis.
type redisLog struct{ log *slog.Logger }

func (r redisLog) Printf(ctx context.Context, format string, args ...any) {
	r.log.DebugContext(ctx, fmt.Sprintf(format, args...), "from", "redis client")
}
