//go:build !linux

package testkit

import (
	"os/exec"
	"syscall"
)

// endWithParent has no counterpart outside Linux: a test binary that is killed there leaves its child behind.
func endWithParent() *syscall.SysProcAttr { return nil }

// asServer has a server run in its directory.
func (c *cluster) asServer(cmd *exec.Cmd) error {
	cmd.Dir = c.dir
	return nil
}
