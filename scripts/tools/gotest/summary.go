package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// event is one line of "go test -json" (go doc test2json).
type event struct {
	Action     string
	Package    string
	ImportPath string // of build-output
	Test       string
	Output     string
}

// summary prints packages as they end and keeps what the closing lines need.
type summary struct {
	out      io.Writer
	packages map[string]*packageRun // running
	servers  map[string]int         // "redis = ..." as testkit.Main reports it, and in how many packages
	skipped  []string
	passed   int
	failed   int
	broken   []broken // packages that failed, in the order of their ends
	flaky    []flake
}

// broken is a package that failed. Without tests it failed as a whole: it leaks, or does not build.
type broken struct {
	path  string
	tests []string // the failed ones, without subtests; sorted
	count int      // how much of summary.failed it is
}

// packageRun is the output of one package's tests until it is known whether anybody wants to see it.
type packageRun struct {
	output []event
	failed map[string]bool
	ended  map[string]bool // tests of which it is known how they ended
}

func newSummary(out io.Writer) *summary {
	return &summary{out: out, packages: map[string]*packageRun{}, servers: map[string]int{}}
}

func (s *summary) read(events io.Reader) error {
	lines := bufio.NewReader(events)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			s.line(line)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (s *summary) line(line []byte) {
	var e event
	if !bytes.HasPrefix(line, []byte("{")) || json.Unmarshal(line, &e) != nil {
		_, _ = s.out.Write(line) // not an event: go itself speaks
		return
	}
	switch e.Action {
	case "build-output":
		fmt.Fprint(s.out, e.Output)
	case "output":
		s.pkg(e).output = append(s.pkg(e).output, e)
	case "pass", "fail", "skip":
		if e.Test == "" {
			s.endPackage(e)
		} else {
			s.endTest(e)
		}
	}
}

func (s *summary) pkg(e event) *packageRun {
	p := s.packages[e.Package]
	if p == nil {
		p = &packageRun{failed: map[string]bool{}, ended: map[string]bool{}}
		s.packages[e.Package] = p
	}
	return p
}

func (s *summary) endTest(e event) {
	s.pkg(e).ended[e.Test] = true
	switch e.Action {
	case "pass":
		s.passed++
	case "fail":
		s.failed++
		s.pkg(e).failed[e.Test] = true
	case "skip":
		s.skipped = append(s.skipped, fmt.Sprintf("%s %s: %s", e.Package, e.Test, s.pkg(e).reason(e.Test)))
	}
}

// reason is what a skipped test said, on one line.
func (p *packageRun) reason(test string) string {
	var said []string
	for _, e := range p.output {
		text := strings.TrimSpace(e.Output)
		if e.Test == test && text != "" && !strings.HasPrefix(text, "=== ") && !strings.HasPrefix(text, "--- ") {
			said = append(said, text)
		}
	}
	return strings.Join(said, " ")
}

// endPackage prints the package's own lines, and where it failed those of its tests that failed, or never ended: what a process says
// that is killed for hanging is theirs.
func (s *summary) endPackage(e event) {
	p := s.pkg(e)
	delete(s.packages, e.Package)
	if e.Action == "fail" && len(p.failed) == 0 {
		s.failed++ // not a test's fault: it does not build, leaks, or was interrupted
	}
	if e.Action == "fail" {
		s.broken = append(s.broken, p.broken(e.Package))
	}
	for _, o := range p.output {
		text := strings.TrimSpace(o.Output)
		server, isServer := strings.CutPrefix(text, "testkit: ")
		switch {
		case o.Test == "" && isServer && strings.Contains(server, " = "):
			s.servers[server]++
		case o.Test == "" && (text == "PASS" || text == "FAIL"):
			// The package's line says it again.
		case e.Action == "fail" && (o.Test == "" || p.failed[o.Test] || !p.ended[o.Test]), o.Test == "" && isResult(text):
			fmt.Fprint(s.out, o.Output)
		}
	}
}

func (p *packageRun) broken(path string) broken {
	whole := map[string]bool{}
	for test := range p.failed {
		name, _, _ := strings.Cut(test, "/")
		whole[name] = true
	}
	return broken{path, slices.Sorted(maps.Keys(whole)), max(len(p.failed), 1)}
}

// isResult tells a package's line ("ok  path  1.2s") from what its tests printed outside of any test.
func isResult(text string) bool {
	return strings.HasPrefix(text, "ok ") || strings.HasPrefix(text, "?")
}

// close prints the closing lines; packages that never ended (go test was interrupted) are shown as they stand.
func (s *summary) close() {
	for _, path := range slices.Sorted(maps.Keys(s.packages)) {
		s.endPackage(event{Action: "fail", Package: path})
	}
	fmt.Fprintln(s.out)
	for _, line := range slices.Sorted(maps.Keys(s.servers)) {
		fmt.Fprintf(s.out, "server: %s (packages: %d)\n", line, s.servers[line])
	}
	for _, line := range s.skipped {
		fmt.Fprintln(s.out, "skipped:", line)
	}
	for _, f := range s.flaky {
		fmt.Fprintf(s.out, "flaky: %s: failed among others, passed alone\n", strings.Join(f.names(), ", "))
	}
	fmt.Fprintf(s.out, "%d passed, %d failed, %d skipped\n", s.passed, s.failed, len(s.skipped))
}

// requireAll reports a run that left anything out.
func (s *summary) requireAll() error {
	switch {
	case len(s.skipped) > 0:
		return fmt.Errorf("%d tests were skipped, none may be", len(s.skipped))
	case s.passed == 0:
		return errors.New("no test ran")
	}
	return nil
}
