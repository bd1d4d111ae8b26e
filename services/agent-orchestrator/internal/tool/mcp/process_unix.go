//go:build unix

package mcp

import (
	"os"
	"os/exec"
	"syscall"
)

func ownGroup(cmd *exec.Cmd)  { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
func askGroup(p *os.Process)  { _ = syscall.Kill(-p.Pid, syscall.SIGTERM) } // fails only if it has ended already
func killGroup(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }
