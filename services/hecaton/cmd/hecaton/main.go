// Command hecaton is a whole cluster in one process, each of its services alone, and their command-line client.
package main

import (
	"context"
	"os"

	"github.com/hecaton-dev/hecaton/pkg/lifecycle"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/cli"
)

// version is set by the linker.
var version = "dev"

func main() {
	ctx, release := lifecycle.Signals(context.Background())
	code := cli.Run(ctx, cli.Env{
		Args: os.Args[1:], Environ: os.Environ(), Stdout: os.Stdout, Stderr: os.Stderr, Version: version,
	})
	release()
	os.Exit(code)
}
