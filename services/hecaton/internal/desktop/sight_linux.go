package desktop

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"

	"golang.org/x/sys/unix"
)

// sight are the capabilities with which a process of root can read the memory of another process, such as that of the node
// with its token.
var sight = []uintptr{unix.CAP_SYS_PTRACE, unix.CAP_SYS_ADMIN, unix.CAP_SYS_RAWIO, unix.CAP_SYS_MODULE, unix.CAP_BPF, unix.CAP_PERFMON}

// startWithoutSight starts a command of root without [sight]; commands of other users do not have these capabilities. It is
// not used for bubblewrap, which gives its commands no capabilities and ends with the thread that started it.
func startWithoutSight(cmd *exec.Cmd) error {
	if os.Geteuid() != 0 {
		return cmd.Start()
	}
	started := make(chan error, 1)
	go func() {
		// Never unlocked: the thread has lost its capabilities, and ends with the goroutine.
		runtime.LockOSThread()
		err := blind()
		if err == nil {
			err = cmd.Start()
		}
		started <- err
	}()
	return <-started
}

// blind takes [sight] from what this thread will start.
func blind() error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var sets [2]unix.CapUserData
	if err := unix.Capget(&header, &sets[0]); err != nil {
		return fmt.Errorf("capabilities: %w", err)
	}
	for _, c := range sight {
		// The kernel may be older than a capability.
		if held, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, c, 0, 0, 0); err != nil || held == 0 {
			continue
		}
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil {
			return fmt.Errorf("capabilities: %w", err)
		}
	}
	for _, c := range sight {
		sets[c/32].Inheritable &^= 1 << (c % 32)
	}
	if err := unix.Capset(&header, &sets[0]); err != nil {
		return fmt.Errorf("capabilities: %w", err)
	}
	return nil
}
