//go:build unix

package testkit

import (
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// claimBlock makes a block of ports this process's until it ends, however it ends.
func claimBlock(block int) bool {
	name := filepath.Join(os.TempDir(), "hecaton-test-ports."+strconv.Itoa(block))
	fd, err := syscall.Open(name, syscall.O_RDONLY|syscall.O_CREAT|syscall.O_CLOEXEC, 0o666) // never closed: the lock is the claim
	if err != nil {
		return false
	}
	if err := syscall.Flock(fd, syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = syscall.Close(fd)
		return false
	}
	return true
}
