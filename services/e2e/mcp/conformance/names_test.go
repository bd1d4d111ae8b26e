//go:build conformance

package conformance

import (
	"errors"
	"os/exec"
	"regexp"
)

func asExit(err error, exit **exec.ExitError) bool { return errors.As(err, exit) }

var stamped = regexp.MustCompile(`^server-(.*)-\d{4}-\d{2}-\d{2}T.*$`)

// scenarioOf returns the scenario whose results are in a directory.
func scenarioOf(dir string) string {
	if m := stamped.FindStringSubmatch(dir); m != nil {
		return m[1]
	}
	return dir
}
