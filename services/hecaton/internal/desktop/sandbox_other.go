//go:build !linux

package desktop

import (
	"errors"
	"fmt"
	"runtime"
)

// openSandbox offers none: bubblewrap needs Linux.
func openSandbox(_ []string, o SandboxOptions) (*sandbox, string, error) {
	switch o.Mode {
	case SandboxOff:
		return nil, "the sandbox is off", nil
	case SandboxRequire:
		return nil, "", errors.New("commands need a sandbox, which there is on Linux only")
	case "", SandboxAuto:
		return nil, "there is no sandbox on " + runtime.GOOS, nil
	}
	return nil, "", fmt.Errorf("the sandbox is %q, must be %s, %s or %s", string(o.Mode), SandboxAuto, SandboxRequire, SandboxOff)
}
