// Package options checks what constructors are given: New(Options) of every package refuses options that lack a required
// part, so that a mistake in the wiring shows at the start and not at the first request.
package options

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Require returns an error that names each required field of a package's Options that is missing, nil if none is.
func Require(pkg string, missing map[string]bool) error {
	var problems []error
	for _, field := range slices.Sorted(maps.Keys(missing)) {
		if missing[field] {
			problems = append(problems, fmt.Errorf("%s: Options.%s is missing; it is required", pkg, field))
		}
	}
	return errors.Join(problems...)
}

// NotNegative returns an error that names each numeric field of a package's Options that is below zero, nil if none is.
func NotNegative(pkg string, values map[string]int64) error {
	var problems []error
	for _, field := range slices.Sorted(maps.Keys(values)) {
		if values[field] < 0 {
			problems = append(problems, fmt.Errorf("%s: Options.%s is %d; it must not be negative", pkg, field, values[field]))
		}
	}
	return errors.Join(problems...)
}
