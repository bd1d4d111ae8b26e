package desktop

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// probeTimeout is how long a first command in a sandbox may take.
const probeTimeout = 10 * time.Second

// openSandbox returns a sandbox that has run a first command; nil, and the reason, if commands run without one.
func openSandbox(dirs []string, o SandboxOptions) (*sandbox, string, error) {
	switch o.Mode {
	case SandboxOff:
		return nil, "the sandbox is off", nil
	case "", SandboxAuto, SandboxRequire:
	default:
		return nil, "", fmt.Errorf("the sandbox is %q, must be %s, %s or %s", string(o.Mode), SandboxAuto, SandboxRequire, SandboxOff)
	}
	s, err := trySandbox(dirs, o)
	switch {
	case err == nil:
		return s, "", nil
	case o.Mode == SandboxRequire:
		return nil, "", fmt.Errorf("commands need a sandbox: %w", err)
	}
	return nil, err.Error(), nil
}

func trySandbox(dirs []string, o SandboxOptions) (*sandbox, error) {
	program, err := exec.LookPath("bwrap")
	if err != nil {
		return nil, errors.New("bubblewrap (bwrap) is not installed")
	}
	if program, err = resolved(program); err != nil {
		return nil, err
	}
	real := dirs[len(dirs)-1]
	switch {
	case within(real, program):
		return nil, fmt.Errorf("%s lies in the directory that commands write to", program)
	case within(real, "/usr"), within(real, "/etc"), within("/proc", real), within("/dev", real):
		return nil, fmt.Errorf("%s cannot be a sandbox's directory: the system's own would be in it", real)
	}
	s, err := newSandbox(program, dirs, o)
	if err != nil {
		return nil, err
	}
	probe := s.wrap(process{name: "/bin/sh", args: []string{"-c", ":"}, dir: real, env: environment(), timeout: probeTimeout})
	out, err := probe.run(context.Background())
	if err == nil && (out.code != 0 || out.timedOut) {
		err = errors.New(strings.TrimSpace(out.stderr.text()))
	}
	if err != nil {
		return nil, fmt.Errorf("bubblewrap does not work here: %w", err)
	}
	return s, nil
}
