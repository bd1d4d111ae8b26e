//go:build unix

package embedded

import (
	"errors"
	"os"
	"syscall"
)

// lock locks a file until it is closed or the process ends.
func lock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, ErrDataInUse
		}
		return nil, err
	}
	return f, nil
}
