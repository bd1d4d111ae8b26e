package desktop

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"time"
)

// lingering is how long run waits for output after the command has ended, if a process that it left behind keeps the output
// open.
const lingering = 500 * time.Millisecond

var errTimeout = errors.New("the command's timeout")

// process is a program to run in a process group of its own.
type process struct {
	name    string
	args    []string
	dir     string
	env     []string
	timeout time.Duration
	start   func(*exec.Cmd) error // nil for [exec.Cmd.Start]
}

// outcome is how a process ended.
type outcome struct {
	stdout, stderr output
	// code is the exit code; for a process that a signal ended, 128 plus the number of the signal, as in shells.
	code     int
	timedOut bool
}

// run returns once the process and all others of its group have ended or been killed. The error says that the process could
// not be started or waited for.
func (p process) run(ctx context.Context) (outcome, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, p.timeout, errTimeout)
	defer cancel()
	var out outcome
	cmd := exec.CommandContext(ctx, p.name, p.args...)
	cmd.Dir, cmd.Env = p.dir, p.env
	cmd.Stdout, cmd.Stderr = &out.stdout, &out.stderr
	cmd.WaitDelay = lingering
	ownGroup(cmd)
	cmd.Cancel = func() error { return killGroup(cmd.Process) }
	start := p.start
	if start == nil {
		start = (*exec.Cmd).Start
	}
	if err := start(cmd); err != nil {
		return out, err
	}
	err := cmd.Wait()
	out.timedOut = errors.Is(context.Cause(ctx), errTimeout)
	_ = killGroup(cmd.Process) // what it left running
	var exit *exec.ExitError
	if errors.As(err, &exit) || errors.Is(err, exec.ErrWaitDelay) || ctx.Err() != nil {
		err = nil
	}
	out.code = exitCode(cmd.ProcessState)
	return out, err
}

// output keeps the beginning of what is written to it and counts the rest, so that the writer never blocks.
type output struct {
	kept    bytes.Buffer
	dropped int64
}

func (o *output) Write(b []byte) (int, error) {
	keep := min(len(b), maxOutput-o.kept.Len())
	o.kept.Write(b[:keep])
	o.dropped += int64(len(b) - keep)
	return len(b), nil
}

// text returns what was kept as UTF-8.
func (o *output) text() string {
	kept := o.kept.Bytes()
	_, end := wholeRunes(kept, true, o.dropped == 0)
	return strings.ToValidUTF8(string(kept[:end]), "\uFFFD")
}

// inherited are the variables of the node's environment that commands get: those that describe the user and the machine.
// The node's own configuration, which may include its token, is not among them.
var inherited = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR",
	// Windows programs do not start without these.
	"SystemRoot", "SystemDrive", "ComSpec", "PATHEXT", "TEMP", "TMP", "USERPROFILE", "USERNAME", "APPDATA", "LOCALAPPDATA", "ProgramFiles",
}

// environment returns the variables of a command, and those given as NAME=value.
func environment(more ...string) []string {
	env := more
	for _, name := range inherited {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}
