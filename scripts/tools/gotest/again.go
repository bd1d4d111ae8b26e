package main

import (
	"fmt"
	"slices"
	"strings"
)

// fewTests is how many failed tests may be bad luck; more are not.
const fewTests = 5

// runAgain runs what failed once more, each package by itself, and returns failed where something fails again or too much
// did.
func runAgain(args []string, sum *summary, failed error) error {
	tests := 0
	for _, b := range sum.broken {
		tests += max(len(b.tests), 1)
	}
	if tests == 0 || tests > fewTests {
		return failed
	}
	for _, b := range sum.broken {
		fmt.Fprintf(sum.out, "\nagain, by themselves: %s %s\n", b.path, strings.Join(b.tests, " "))
		second := newSummary(sum.out)
		if err := run(againArgs(args, b), second); err != nil {
			return failed
		}
		sum.flaky = append(sum.flaky, flake{b.path, b.tests})
		sum.failed -= b.count
	}
	return nil
}

// againArgs are the arguments for one package's failed tests, the flags being those of the whole run.
func againArgs(args []string, b broken) []string {
	out := slices.Clone(args[:flags(args)])
	if len(b.tests) > 0 {
		out = append(out, "-run", "^("+strings.Join(b.tests, "|")+")$")
	}
	return append(out, "-count=1", b.path)
}

// withValue are the flags of go test in use here whose value is the next argument.
var withValue = []string{"-timeout", "-tags", "-run", "-skip", "-count", "-p", "-parallel"}

// flags returns how many of the arguments come before the packages.
func flags(args []string) int {
	for i := 0; i < len(args); i++ {
		switch {
		case slices.Contains(withValue, args[i]):
			i++
		case !strings.HasPrefix(args[i], "-"):
			return i
		}
	}
	return len(args)
}
