package desktop

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

func shellLine(line string) (string, []string) { return "cmd.exe", []string{"/D", "/S", "/C", line} }

// ownGroup keeps a Ctrl-C for the node from its commands.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP, HideWindow: true}
}

// killGroup kills p and its descendants, as far as they can still be traced to it.
func killGroup(p *os.Process) error {
	return exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(p.Pid)).Run()
}

func exitCode(state *os.ProcessState) int { return state.ExitCode() }
