// Command node-registry keeps presence: which nodes exist, who holds them, and which session talks to which node.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/redis/go-redis/v9"

	"github.com/hecaton-dev/hecaton/pkg/config"
	"github.com/hecaton-dev/hecaton/pkg/lifecycle"
	"github.com/hecaton-dev/hecaton/pkg/obs"
	"github.com/hecaton-dev/hecaton/services/node-registry/app"
)

// version is set by the linker.
var version = "dev"

func main() {
	if err := run(); err != nil && !errors.Is(err, config.ErrHelp) {
		fmt.Fprintln(os.Stderr, "node-registry:", err)
		os.Exit(1)
	}
}

func run() error {
	var cfg app.Config
	sources := config.Sources{Program: "node-registry", Args: os.Args[1:], Environ: os.Environ()}
	if err := config.Load(&cfg, sources); err != nil {
		return err
	}
	log := obs.NewLogger(os.Stdout, cfg.Log.Level, cfg.Log.Format)
	redis.SetLogger(redisLog{log})
	registry, err := app.New(cfg, app.Options{Logger: log, Version: version})
	if err != nil {
		return err
	}
	ctx, release := lifecycle.Signals(context.Background())
	defer release()
	return registry.Run(ctx)
}

// redisLog takes what go-redis would print as plain text. What fails is said by whoever asked Redis.
type redisLog struct{ log *slog.Logger }

func (r redisLog) Printf(ctx context.Context, format string, args ...any) {
	r.log.DebugContext(ctx, fmt.Sprintf(format, args...), "from", "redis client")
}
