//go:build !linux

package testkit

import "syscall"

// endWithParent has no counterpart outside Linux: a test binary that is killed there leaves its child behind.
func endWithParent() *syscall.SysProcAttr { return nil }
