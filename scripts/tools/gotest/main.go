// Command gotest runs "go test" and closes with what a reader of a long run wants to know: which servers the tests used,
// stand-ins included, which tests were skipped and why, and the counts.
//
//	gotest [-no-skips] [go test arguments]
//
// Each package is one line, as "go test" prints it; a failed test's output is shown whole, a passed test's not at all.
// With -no-skips a skipped test, or a run without any test, is a failure.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

func main() {
	args, noSkips := os.Args[1:], false
	if len(args) > 0 && args[0] == "-no-skips" {
		args, noSkips = args[1:], true
	}
	sum := newSummary(os.Stdout)
	err := run(args, sum)
	sum.close()
	if err == nil && noSkips {
		err = sum.requireAll()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gotest:", err)
		os.Exit(1)
	}
}

// run starts "go test -json" and feeds its events to sum.
func run(args []string, sum *summary) error {
	cmd := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	cmd.Stderr = os.Stderr
	events, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	// A terminal's Ctrl-C reaches go test too: wait for it and still say how far it got. A SIGTERM is passed on.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() {
		for s := range signals {
			if s == syscall.SIGTERM {
				_ = cmd.Process.Signal(s)
			}
		}
	}()
	if err := sum.read(events); err != nil {
		return fmt.Errorf("reading go test's events: %w", err)
	}
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("go test: %w", err)
	}
	return nil
}
