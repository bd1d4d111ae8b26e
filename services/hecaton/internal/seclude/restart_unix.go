//go:build unix

package seclude

import (
	"fmt"
	"os"
	"strconv"
	"syscall"
)

// Restart replaces this process by program, with these arguments (the first is the program's name) and this environment.
// The new program gets the secret from [Received] by name, which is that of a variable. Restart returns only if it fails.
func Restart(program string, args, environ []string, name, secret string) error {
	if len(secret) > maxSecret {
		return fmt.Errorf("it has %d bytes, at most %d are handed over", len(secret), maxSecret)
	}
	var pipe [2]int // neither end is closed by what follows
	if err := syscall.Pipe(pipe[:]); err != nil {
		return os.NewSyscallError("pipe", err)
	}
	_, err := syscall.Write(pipe[1], []byte(secret))
	_ = syscall.Close(pipe[1])
	if err == nil {
		err = syscall.Exec(program, args, append(environ, name+"="+strconv.Itoa(pipe[0])))
	}
	_ = syscall.Close(pipe[0])
	return fmt.Errorf("start again: %w", err)
}
