// Command gotest runs "go test" and closes with what a reader of a long run wants to know: which servers the tests used,
// stand-ins included, which tests were skipped and why, and the counts.
//
//	gotest [-no-skips] [-again] [-flaky FILE] [go test arguments]
//
// Each package is one line, as "go test" prints it; a failed test's output is shown whole, a passed test's not at all.
// With -no-skips a skipped test, or a run without any test, is a failure. With -again a few failed tests run once more by
// themselves, and those that pass then are named as flaky at the end. They do not fail the run, unless -flaky names a file of
// those that are known to be flaky: then all others fail it.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

func main() {
	o, args := readOptions(os.Args[1:])
	if err := o.test(args); err != nil {
		fmt.Fprintln(os.Stderr, "gotest:", err)
		os.Exit(1)
	}
}

// options are gotest's own.
type options struct {
	noSkips, again bool
	flaky          string // the file of flaky tests; "" where flaky tests fail nothing
}

// readOptions returns the options, and the arguments of go test that follow them.
func readOptions(args []string) (o options, rest []string) {
	for ; len(args) > 0; args = args[1:] {
		switch {
		case args[0] == "-no-skips":
			o.noSkips = true
		case args[0] == "-again":
			o.again = true
		case args[0] == "-flaky" && len(args) > 1:
			o.flaky, args = args[1], args[1:]
		default:
			return o, args
		}
	}
	return o, args
}

// test runs the tests and prints what became of them. The error says why the run fails.
func (o options) test(args []string) error {
	known, err := readKnown(o.flaky)
	if err != nil {
		return err
	}
	sum := newSummary(os.Stdout)
	err = run(args, sum)
	if err != nil && o.again {
		err = runAgain(args, sum, err)
	}
	sum.close()
	if err == nil && o.noSkips {
		err = sum.requireAll()
	}
	if err == nil && o.flaky != "" {
		err = known.refuse(sum.flaky, o.flaky)
	}
	return err
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
