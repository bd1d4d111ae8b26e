//go:build !linux

package desktop

import "os/exec"

func startWithoutSight(cmd *exec.Cmd) error { return cmd.Start() }
