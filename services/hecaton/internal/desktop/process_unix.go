//go:build unix

package desktop

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

func shellLine(line string) (string, []string) { return "/bin/sh", []string{"-c", line} }

// ownGroup gives the process a process group of its own, to which its children belong unless they leave it.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup kills every process of the group that p leads, or led.
func killGroup(p *os.Process) error {
	err := syscall.Kill(-p.Pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

func exitCode(state *os.ProcessState) int {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return state.ExitCode()
}
