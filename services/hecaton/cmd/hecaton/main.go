// Command hecaton is a whole cluster in one process, each of its services alone, and their command-line client.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/hecaton-dev/hecaton/pkg/process/lifecycle"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/cli"
)

// version is set by the linker.
var version = "dev"

func main() {
	ctx, release := lifecycle.Signals(context.Background())
	code := cli.Run(ctx, cli.Env{
		Program: os.Args[0], Args: os.Args[1:], Environ: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Version: version,
		Interactive: terminal(os.Stdin) && terminal(os.Stdout), Signals: signals, Own: true,
	})
	release()
	os.Exit(code)
}

func terminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

func signals() (<-chan os.Signal, func()) {
	arrived := make(chan os.Signal, 1)
	signal.Notify(arrived, os.Interrupt, syscall.SIGTERM)
	return arrived, func() { signal.Stop(arrived) }
}
