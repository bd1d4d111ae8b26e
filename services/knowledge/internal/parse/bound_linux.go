package parse

import (
	"fmt"
	"os"
	"syscall"
)

// boundMemory lets the process map so many bytes more than it has mapped now.
func boundMemory(bytes uint64) error {
	var pages uint64
	raw, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return err
	}
	if _, err := fmt.Sscan(string(raw), &pages); err != nil {
		return err
	}
	most := pages*uint64(os.Getpagesize()) + bytes
	return syscall.Setrlimit(syscall.RLIMIT_AS, &syscall.Rlimit{Cur: most, Max: most})
}
