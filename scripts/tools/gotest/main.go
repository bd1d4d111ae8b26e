// Command gotest runs "go test" and closes with what a reader of a long run wants to know: which servers the tests used,
// stand-ins included, which tests were skipped and why, and the counts.
//
//	gotest [-no-skips] [-again] [go test arguments]
//
// Each package is one line, as "go test" prints it; a failed test's output is shown whole, a passed test's not at all.
// With -no-skips a skipped test, or a run without any test, is a failure. With -again a few failed tests run once more by
// themselves: those that pass then are named as flaky at the end, for somebody to mend, and do not fail the run.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

func main() {
	args, noSkips, again := os.Args[1:], false, false
	for ; len(args) > 0; args = args[1:] {
		if args[0] == "-no-skips" {
			noSkips = true
		} else if args[0] == "-again" {
			again = true
		} else {
			break
		}
	}
	sum := newSummary(os.Stdout)
	err := run(args, sum)
	if err != nil && again {
		err = runAgain(args, sum, err)
	}
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
