package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestOnlyKnownTestsMayBeFlaky(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "flaky.txt")
	text := "# a comment\n\np/a TestA: the browser crashes on start, see its issue 1\np/whole: leaks a goroutine of a library\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	k, err := readKnown(file)
	if err != nil || len(k) != 2 {
		t.Fatalf("%v, %v", k, err)
	}
	if err := k.refuse([]flake{{"p/a", []string{"TestA"}}, {"p/whole", nil}}, file); err != nil {
		t.Error(err)
	}
	err = k.refuse([]flake{{"p/b", nil}, {"p/a", []string{"TestA", "TestB"}}}, file)
	if err == nil || !strings.Contains(err.Error(), "second try: p/a TestB, p/b; ") || !strings.Contains(err.Error(), file) {
		t.Errorf("got %v", err)
	}
}

func TestAFlakyTestNeedsAReason(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "flaky.txt")
	if err := os.WriteFile(file, []byte("p/a TestA: why\np/a TestB\np/a TestC:\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := readKnown(file)
	if err == nil || !strings.Contains(err.Error(), ":2:") || !strings.Contains(err.Error(), ":3:") || strings.Contains(err.Error(), ":1:") {
		t.Errorf("got %v", err)
	}
	if _, err := readKnown(file + "x"); err == nil {
		t.Error("a file that is not there is no empty one")
	}
}

func TestTheRepositorysListCanBeRead(t *testing.T) {
	t.Parallel()
	if _, err := readKnown("../../ci/flaky.txt"); err != nil {
		t.Error(err)
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	o, rest := readOptions(strings.Fields("-again -flaky scripts/ci/flaky.txt -no-skips -race work"))
	if !o.again || !o.noSkips || o.flaky != "scripts/ci/flaky.txt" || strings.Join(rest, " ") != "-race work" {
		t.Errorf("%+v, %q", o, rest)
	}
}
