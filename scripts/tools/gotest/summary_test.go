package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// summarise runs the real "go test" over one package made of the given test file, so that a change in its events shows.
func summarise(t *testing.T, file string) (string, *summary) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module example\n\ngo 1.26\n", "x_test.go": file} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", "test", "-json", "./...")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	events, err := cmd.Output()
	if err != nil && len(events) == 0 {
		t.Fatal(err)
	}
	var out strings.Builder
	s := newSummary(&out)
	if err := s.read(strings.NewReader(string(events))); err != nil {
		t.Fatal(err)
	}
	s.close()
	return out.String(), s
}

func mustHave(t *testing.T, out string, lines ...string) {
	t.Helper()
	for _, l := range lines {
		if !strings.Contains(out, l) {
			t.Errorf("no %q in:\n%s", l, out)
		}
	}
}

func mustLack(t *testing.T, out string, texts ...string) {
	t.Helper()
	for _, x := range texts {
		if strings.Contains(out, x) {
			t.Errorf("%q in:\n%s", x, out)
		}
	}
}

// What a process says that is killed while a test hangs shows where it hangs.
func TestAHangingTestSpeaks(t *testing.T) {
	t.Parallel()
	out, s := summarise(t, `package x
import ("os"; "syscall"; "testing")
func TestGood(t *testing.T) { t.Log("good says") }
func TestHangs(t *testing.T) {
	_ = syscall.Kill(os.Getpid(), syscall.SIGQUIT)
	select {}
}
`)
	mustHave(t, out, "SIGQUIT: quit", "TestHangs(")
	mustLack(t, out, "good says")
	if s.failed != 1 {
		t.Error(s.failed)
	}
}

func TestFailedTestsSpeakPassedOnesDoNot(t *testing.T) {
	t.Parallel()
	out, s := summarise(t, `package x
import "testing"
func TestGood(t *testing.T) { t.Log("good says") }
func TestBad(t *testing.T) { t.Run("sub", func(t *testing.T) { t.Error("bad says") }) }
`)
	mustHave(t, out, "bad says", "--- FAIL: TestBad", "FAIL\texample", "\n1 passed, 2 failed, 0 skipped\n")
	mustLack(t, out, "good says")
	if err := s.requireAll(); err != nil {
		t.Errorf("nothing was left out, yet: %v", err)
	}
}

func TestSkipsAreNamedWithTheirReason(t *testing.T) {
	t.Parallel()
	out, s := summarise(t, `package x
import "testing"
func TestGood(t *testing.T) {}
func TestRest(t *testing.T) { t.Skip("no browser here") }
`)
	mustHave(t, out, "ok  \texample", "skipped: example TestRest: x_test.go:4: no browser here\n", "\n1 passed, 0 failed, 1 skipped\n")
	if err := s.requireAll(); err == nil {
		t.Error("a skip goes unnoticed")
	}
}

func TestServersAreCounted(t *testing.T) {
	t.Parallel()
	out, _ := summarise(t, `package x
import ("os"; "testing")
func TestMain(m *testing.M) { c := m.Run(); os.Stderr.WriteString("testkit: redis = a thing\n"); os.Exit(c) }
func TestGood(t *testing.T) {}
`)
	mustHave(t, out, "server: redis = a thing (packages: 1)\n")
	mustLack(t, out, "testkit:")
}

func TestBuildErrorsAndPanicsAreShown(t *testing.T) {
	t.Parallel()
	out, _ := summarise(t, "package x\nfunc f() { undefined() }\n")
	mustHave(t, out, "undefined: undefined", "[build failed]", "\n0 passed, 1 failed")
	out, _ = summarise(t, `package x
import "testing"
func TestPanics(t *testing.T) { panic("at the disco") }
`)
	mustHave(t, out, "at the disco", "goroutine ", "FAIL\texample", "1 failed")
}

func TestARunWithoutTestsIsIncomplete(t *testing.T) {
	t.Parallel()
	_, s := summarise(t, "package x\n")
	if err := s.requireAll(); err == nil {
		t.Error("no test ran, and nobody complains")
	}
}

func TestAnInterruptedPackageIsShown(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	s := newSummary(&out)
	if err := s.read(strings.NewReader(`{"Action":"output","Package":"p","Output":"half a word"}` + "\nplain words\n")); err != nil {
		t.Fatal(err)
	}
	s.close()
	mustHave(t, out.String(), "plain words\n", "half a word")
}
