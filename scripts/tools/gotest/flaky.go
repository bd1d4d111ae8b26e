package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// flake is what failed among others and passed alone: tests of a package, or the package as a whole where there are none.
type flake struct {
	path  string
	tests []string
}

// names are the names of what was flaky as the file of flaky tests has them: "path Test" each, or the path alone.
func (f flake) names() []string {
	if len(f.tests) == 0 {
		return []string{f.path}
	}
	var names []string
	for _, test := range f.tests {
		names = append(names, f.path+" "+test)
	}
	return names
}

// known are the tests that may be flaky for now, by name, and why.
type known map[string]string

// readKnown reads the file of flaky tests. A line is "path Test: reason"; empty lines, and those that begin with #, are left
// out. Without a file none may be flaky.
func readKnown(file string) (known, error) {
	if file == "" {
		return known{}, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	k := known{}
	var problems []error
	for i, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, reason, found := strings.Cut(line, ": ")
		if !found || strings.TrimSpace(reason) == "" {
			problems = append(problems, fmt.Errorf("%s:%d: %q is not \"path Test: reason\"", file, i+1, line))
			continue
		}
		k[name] = strings.TrimSpace(reason)
	}
	return k, errors.Join(problems...)
}

// refuse returns an error that names what was flaky and is not known to be.
func (k known) refuse(flakes []flake, file string) error {
	var unknown []string
	for _, f := range flakes {
		for _, name := range f.names() {
			if _, ok := k[name]; !ok {
				unknown = append(unknown, name)
			}
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	slices.Sort(unknown)
	return fmt.Errorf("passed only at the second try: %s; a flaky test hides defects, so mend it, or write why it stands in %s",
		strings.Join(unknown, ", "), file)
}
