package faults

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/process/sleep"
)

// Watcher is told what happens; each method at once when it does.
type Watcher interface {
	// Enter is told of a fault that begins, Leave that it has settled.
	Enter(f Fault)
	Leave(f Fault)
	// Mark is told of a step: "do", "hold", "undo", "settle".
	Mark(f Fault, step string)
}

// commandWithin is how long a command may take.
const commandWithin = 5 * time.Minute

// Run makes the faults happen one after the other. It returns when the last one has settled, when a command has failed, or
// when ctx has ended; in each case what was broken is mended first, and the error says if that failed.
func Run(ctx context.Context, all []Fault, w Watcher) error {
	for _, f := range all {
		if ctx.Err() != nil {
			return nil
		}
		if err := one(ctx, f, w); err != nil {
			return fmt.Errorf("fault %q: %w", f.Name, err)
		}
	}
	return nil
}

func one(ctx context.Context, f Fault, w Watcher) error {
	w.Enter(f)
	defer w.Leave(f)
	w.Mark(f, "do")
	err := shell(ctx, "do", f.Do)
	if err == nil {
		w.Mark(f, "hold")
		sleep.For(ctx, f.Hold)
	}
	if ctx.Err() != nil {
		err = nil // a command that is cut short fails
	}
	if f.Undo != "" { // also where doing it has failed, perhaps half way
		w.Mark(f, "undo")
		err = errors.Join(err, shell(context.WithoutCancel(ctx), "undo", f.Undo))
	}
	if err != nil || ctx.Err() != nil {
		return err
	}
	w.Mark(f, "settle")
	sleep.For(ctx, f.Settle)
	return nil
}

// shell runs a command; its error has the end of what it printed.
func shell(ctx context.Context, name, command string) error {
	ctx, cancel := context.WithTimeout(ctx, commandWithin)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", command)
	cmd.WaitDelay = time.Second // a child that it left behind may hold its output
	out, err := cmd.CombinedOutput()
	if err == nil || errors.Is(err, exec.ErrWaitDelay) {
		return nil
	}
	const most = 500
	text := strings.TrimSpace(string(out))
	return fmt.Errorf("%s: %w: %s", name, err, text[max(0, len(text)-most):])
}
