package main

import (
	"errors"
	"path/filepath"
	"strings"

	"github.com/hecaton-dev/hecaton/services/e2e/bench/proc"
)

// profile begins CPU profiles of processes, where profiles were asked for, and returns what ends them. Their files are
// named after what they show and the process.
func (o options) profile(children map[string]*proc.Child, what string) (stop func() error, err error) {
	if o.Profiles == "" {
		return func() error { return nil }, nil
	}
	for name, c := range children {
		if err := c.Do("StartProfile", o.profilePath(what+", "+name)); err != nil {
			return nil, err
		}
	}
	return func() error {
		var errs []error
		for _, c := range children {
			errs = append(errs, c.Do("StopProfile", proc.Nothing{}))
		}
		return errors.Join(errs...)
	}, nil
}

// profilePath is the file of a profile; its name has no characters that are special to shells.
func (o options) profilePath(title string) string {
	name := strings.NewReplacer("'", "", ", ", "-", ": ", "-", " ", "-", "=", "").Replace(title)
	return filepath.Join(o.Profiles, name+".pprof")
}
