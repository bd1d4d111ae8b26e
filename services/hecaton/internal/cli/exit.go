package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/node/nodetype"
	"github.com/hecaton-dev/hecaton/pkg/process/config"
)

// Code is what a command exits with.
type Code int

const (
	// OK: it did what was asked; of a call: the tool answered.
	OK Code = 0
	// Failed: it did not; of a call: the tool answered with an error.
	Failed Code = 1
	// Usage: the command line or the environment is wrong, and nothing was done.
	Usage Code = 2
	// NotDelivered: no node has seen the call; to try again is safe.
	NotDelivered Code = 3
	// Unknown: a node may have run the call.
	Unknown Code = 4
	// Waiting: a run of an agent waits for a person's decision.
	Waiting Code = 5
)

// usageError is a mistake on the command line.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usage(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// outcomeError is a failed call whose class is known although its reason is not one of calls.
type outcomeError struct {
	class errs.Class
	err   error
}

func (e *outcomeError) Error() string { return e.err.Error() }
func (e *outcomeError) Unwrap() error { return e.err }

// code returns what err means.
func code(err error) Code {
	var wrong *usageError
	var reason *errs.Error
	var outcome *outcomeError
	class := errs.Class("")
	switch {
	case err == nil, errors.Is(err, config.ErrHelp):
		return OK
	case errors.As(err, &wrong):
		return Usage
	case errors.Is(err, errWaiting):
		return Waiting
	case errors.As(err, &reason):
		class = reason.Class()
	case errors.As(err, &outcome):
		class = outcome.class
	}
	switch class {
	case errs.NotDelivered:
		return NotDelivered
	case errs.Unknown:
		return Unknown
	}
	return Failed
}

// exit says what went wrong, and returns the exit code.
func (e Env) exit(name string, err error) int {
	c := code(err)
	if c == OK {
		return int(c)
	}
	for line := range strings.Lines(explain(err)) {
		fmt.Fprintf(e.Stderr, "%s: %s\n", name, strings.TrimSuffix(line, "\n"))
	}
	if c == Usage {
		fmt.Fprintf(e.Stderr, "%s: \"%s --help\" says what there is\n", name, name)
	}
	return int(c)
}

// explain is err for people, a line for each thing that is wrong.
func explain(err error) string {
	var b strings.Builder
	b.WriteString(err.Error())
	var reason *errs.Error
	if !errors.As(err, &reason) {
		return b.String()
	}
	for _, n := range reason.Nodes {
		fmt.Fprintf(&b, "\n  --node %s   (%s, %s)", printable(n.GetInfo().GetNodeId()),
			nodetype.Name(n.GetInfo().GetNodeType()), nodetype.StatusName(n.GetStatus()))
	}
	switch reason.Class() {
	case errs.NotDelivered:
		b.WriteString("\nno node has seen the call")
	case errs.Unknown:
		b.WriteString("\nthe node may have run the call: look before you try again")
	}
	return b.String()
}

// stopped reports whether err is only that somebody asked the command to stop.
func stopped(ctx context.Context, err error) bool {
	return ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.Cause(ctx)))
}
