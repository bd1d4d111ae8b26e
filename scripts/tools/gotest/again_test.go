package main

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// again runs a package as "gotest -again" does, in which TestUnlucky fails the first time only.
func again(t *testing.T, more string) (string, *summary, error) {
	t.Helper()
	t.Chdir(t.TempDir())
	t.Setenv("GOWORK", "off")
	t.Setenv("GOFLAGS", "")
	for name, text := range map[string]string{"go.mod": "module example\n\ngo 1.26\n", "x_test.go": `package x
import ("os"; "testing")
func TestGood(t *testing.T) {}
func TestUnlucky(t *testing.T) {
	t.Run("sub", func(t *testing.T) {
		if _, err := os.Stat("again"); err != nil {
			os.WriteFile("again", nil, 0o600)
			t.Error("bad luck")
		}
	})
}
` + more} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out strings.Builder
	s := newSummary(&out)
	args := []string{"-timeout", "1m", "./..."}
	err := run(args, s)
	if err != nil {
		err = runAgain(args, s, err)
	}
	s.close()
	return out.String(), s, err
}

func TestFlakyTestsAreNamed(t *testing.T) {
	out, s, err := again(t, "")
	if err != nil || s.failed != 0 {
		t.Errorf("%v, %d failed:\n%s", err, s.failed, out)
	}
	mustHave(t, out, "bad luck", "flaky: example TestUnlucky: failed among others, passed alone")
}

func TestWhatFailsAgainFails(t *testing.T) {
	out, s, err := again(t, `func TestBad(t *testing.T) { t.Error("bad") }`)
	if err == nil || s.failed == 0 {
		t.Errorf("it passes:\n%s", out)
	}
	mustLack(t, out, "flaky:")
}

func TestMuchIsNoBadLuck(t *testing.T) {
	var many strings.Builder
	for _, name := range []string{"A", "B", "C", "D", "E"} {
		many.WriteString("func Test" + name + "(t *testing.T) { t.Error() }\n")
	}
	out, _, err := again(t, many.String())
	if err == nil {
		t.Errorf("it passes:\n%s", out)
	}
	mustLack(t, out, "again, by themselves")
}

func TestArgumentsOfASecondRun(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"-timeout 20m -race work":            "-timeout 20m -race -run ^(TestA|TestB)$ -count=1 p",
		"-timeout 20m -tags integration a b": "-timeout 20m -tags integration -run ^(TestA|TestB)$ -count=1 p",
		"./...":                              "-run ^(TestA|TestB)$ -count=1 p",
	} {
		got := againArgs(strings.Fields(args), broken{path: "p", tests: []string{"TestA", "TestB"}})
		if !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%s: %v", args, got)
		}
	}
}
