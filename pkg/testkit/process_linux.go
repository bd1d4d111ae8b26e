package testkit

import "syscall"

// endWithParent makes the kernel kill the child when its parent dies, however that happens.
func endWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
