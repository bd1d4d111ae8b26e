package desktop

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/node"
)

const (
	// defaultTimeout ends a command shortly before the 60 s after which a caller without a deadline gives up, so that the
	// caller still receives what the command wrote.
	defaultTimeout = 50 * time.Second
	maxTimeout     = time.Hour
	// maxOutput bounds stdout and stderr each, maxText the output in the answer's content. JSON writes one control
	// character in six bytes: 6 × (2 × 512 KiB + 256 KiB) is 7.5 MiB, which a frame holds.
	maxOutput = 512 << 10
	maxText   = 256 << 10
)

// commandArgs are the arguments of run_command.
type commandArgs struct {
	Command   string   `json:"command"`
	Args      []string `json:"args"`
	Shell     *bool    `json:"shell"`
	Cwd       string   `json:"cwd"`
	TimeoutMS *int64   `json:"timeout_ms"`
}

// runCommand runs a command: a program if args are given or shell is false, else a line for the shell; cwd is where it
// starts. The result has content and, for callers that read data, stdout, stderr, exit_code, truncated and timed_out. An
// exit code other than 0 is an answer, not an error: its meaning depends on the command.
func (t *Tools) runCommand(ctx context.Context, call node.Call) (node.Result, error) {
	var args commandArgs
	if err := call.Bind(&args); err != nil {
		return node.Result{}, err
	}
	timeout, err := args.check()
	if err != nil {
		return node.Result{}, err
	}
	dir, problem := t.workingDirectory(args.Cwd)
	if problem != nil {
		return *problem, nil
	}
	p := process{name: args.Command, args: args.Args, dir: dir, env: environment("PWD=" + dir), timeout: timeout}
	if args.throughShell() {
		p.name, p.args = shellLine(args.Command)
	}
	if t.sandbox != nil {
		p = t.sandbox.wrap(p)
	} else {
		p.start = startWithoutSight
	}
	out, err := p.run(ctx)
	if err == nil && t.sandbox != nil {
		if why := notStarted(out); why != "" {
			err = errors.New(why)
		}
	}
	switch {
	case ctx.Err() != nil:
		return node.Result{}, ctx.Err()
	case err != nil:
		return node.Errorf("%q cannot be run: %v", args.Command, err), nil
	}
	return out.result(timeout), nil
}

func (a commandArgs) throughShell() bool {
	if a.Shell != nil {
		return *a.Shell
	}
	return a.Args == nil
}

func (a commandArgs) check() (time.Duration, error) {
	timeout := defaultTimeout
	if a.TimeoutMS != nil {
		if *a.TimeoutMS < 1 || *a.TimeoutMS > maxTimeout.Milliseconds() {
			return 0, node.InvalidParams("arguments.timeout_ms is %d, it must be from 1 to %d", *a.TimeoutMS, maxTimeout.Milliseconds())
		}
		timeout = time.Duration(*a.TimeoutMS) * time.Millisecond
	}
	switch {
	case strings.TrimSpace(a.Command) == "":
		return 0, node.InvalidParams("arguments.command is missing; give a line for the shell, or a program and its args")
	case a.Args != nil && a.throughShell():
		return 0, node.InvalidParams("arguments.args and arguments.shell exclude each other; write the arguments into command, or leave shell out")
	}
	return timeout, nil
}

// workingDirectory returns the absolute path of cwd. A link may change between this check and the start; that is no
// problem, since a command may change its directory anyway.
func (t *Tools) workingDirectory(cwd string) (string, *node.Result) {
	if cwd == "" {
		return t.Root(), nil
	}
	name, err := t.inside(cwd)
	if err != nil {
		r := node.Errorf("cwd: %v", err)
		return "", &r
	}
	info, err := t.root.Stat(name)
	if err == nil && !info.IsDir() {
		err = errors.New("it is not a directory; cwd is where the command starts")
	}
	if err != nil {
		r := t.explain(cwd, err)
		return "", &r
	}
	return filepath.Join(t.Root(), name), nil
}

// result describes a command that ended, or that its timeout ended, to the caller.
func (o outcome) result(timeout time.Duration) node.Result {
	stdout, stderr := o.stdout.text(), o.stderr.text()
	text := strings.Builder{}
	text.WriteString(stdout)
	note := func(format string, args ...any) {
		if text.Len() > 0 && !strings.HasSuffix(text.String(), "\n") {
			text.WriteByte('\n')
		}
		fmt.Fprintf(&text, format, args...)
	}
	if stderr != "" {
		note("[stderr]\n%s", stderr)
	}
	if cut := text.Len() - maxText; cut > 0 {
		kept := strings.ToValidUTF8(text.String()[:maxText], "")
		text.Reset()
		text.WriteString(kept)
		note("[%d bytes more in stdout and stderr]", cut)
	}
	if dropped := o.stdout.dropped + o.stderr.dropped; dropped > 0 {
		note("[%d bytes of output were dropped; stdout and stderr hold %d bytes each]", dropped, maxOutput)
	}
	switch {
	case o.timedOut:
		note("[killed after the timeout of %v; timeout_ms can be longer]", timeout)
	case o.code != 0:
		note("[exit code %d]", o.code)
	}
	r := node.Text(text.String())
	r.IsError = o.timedOut
	r.Fields = map[string]any{
		"stdout": stdout, "stderr": stderr, "exit_code": o.code,
		"truncated": o.stdout.dropped+o.stderr.dropped > 0, "timed_out": o.timedOut,
	}
	return r
}
