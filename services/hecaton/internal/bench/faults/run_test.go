package faults

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
)

// log is a watcher that writes down what it is told.
type log struct {
	lines []string
	each  func(line string)
}

func (l *log) say(line string) {
	l.lines = append(l.lines, line)
	if l.each != nil {
		l.each(line)
	}
}
func (l *log) Enter(f Fault)             { l.say("enter " + f.Name) }
func (l *log) Leave(f Fault)             { l.say("leave " + f.Name) }
func (l *log) Mark(f Fault, step string) { l.say(step + " " + f.Name) }
func (l *log) String() string            { return strings.Join(l.lines, ", ") }

func TestFaultsHappenInTurn(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "done")
	w := &log{}
	err := Run(t.Context(), []Fault{
		{Name: "a", Do: "echo do a >>" + file, Undo: "echo undo a >>" + file, Hold: time.Millisecond, Settle: time.Millisecond},
		{Name: "b", Do: "echo do b >>" + file},
	}, w)
	raw, _ := os.ReadFile(file)
	if want := "enter a, do a, hold a, undo a, settle a, leave a, enter b, do b, hold b, settle b, leave b"; err != nil || w.String() != want || string(raw) != "do a\nundo a\ndo b\n" {
		t.Errorf("%v\n%s\n%s", err, w, raw)
	}
}

// A command that fails ends the schedule, and what it may have broken is mended.
func TestACommandFails(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "mended")
	err := Run(t.Context(), []Fault{{Name: "a", Do: "echo no such pod; exit 3", Undo: "touch " + file}, {Name: "b", Do: "touch " + file + "b"}}, &log{})
	if err == nil || !strings.Contains(err.Error(), `fault "a": do: exit status 3: no such pod`) {
		t.Error(err)
	}
	if _, err := os.Stat(file); err != nil {
		t.Error("it was not mended:", err)
	}
	if _, err := os.Stat(file + "b"); err == nil {
		t.Error("the next one happened")
	}
	err = Run(t.Context(), []Fault{{Name: "a", Do: "true", Undo: "false"}}, &log{})
	if err == nil || !strings.Contains(err.Error(), "undo: exit status 1") {
		t.Error(err)
	}
}

// Stopping a bench while something is broken mends it, and runs no further fault.
func TestStoppedWhileBroken(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"do a", "hold a", "settle a"} {
		file := filepath.Join(t.TempDir(), "mended")
		ctx, stop := context.WithCancel(t.Context())
		w := &log{each: func(line string) {
			if line == at {
				stop()
			}
		}}
		err := Run(ctx, []Fault{{Name: "a", Do: "true", Hold: time.Hour * hours(at), Undo: "touch " + file, Settle: time.Hour}, {Name: "b", Do: "true"}}, w)
		if err != nil || strings.Contains(w.String(), "enter b") || !strings.HasSuffix(w.String(), "leave a") {
			t.Errorf("%s: %v: %s", at, err, w)
		}
		if _, err := os.Stat(file); err != nil {
			t.Errorf("%s: it was not mended: %v", at, err)
		}
	}
}

// Whoever stops a bench hears of what is left broken.
func TestStoppedAndNotMended(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	w := &log{each: func(line string) {
		if line == "hold a" {
			stop()
		}
	}}
	err := Run(ctx, []Fault{{Name: "a", Do: "true", Hold: time.Hour, Undo: "echo no such pod; exit 3"}}, w)
	if err == nil || !strings.Contains(err.Error(), `fault "a": undo: exit status 3: no such pod`) {
		t.Error(err)
	}
}

// hours is long, but for the case that has to get past it.
func hours(at string) time.Duration {
	if at == "settle a" {
		return 0
	}
	return 1
}

// A command that leaves something running does not keep the schedule waiting for it.
func TestACommandLeavesAChild(t *testing.T) {
	t.Parallel()
	pid := filepath.Join(t.TempDir(), "pid")
	began := time.Now()
	if err := Run(t.Context(), []Fault{{Name: "a", Do: "sleep 60 & echo $! >" + pid, Undo: "kill $(cat " + pid + ")"}}, &log{}); err != nil {
		t.Error(err)
	}
	if time.Since(began) > 30*time.Second {
		t.Error("it waited for the child")
	}
	testkit.Eventually(t, 10*time.Second, func() bool { _, err := os.Stat(pid); return err == nil }, "the child's number is there")
}
