//go:build unix

package seclude

import (
	"fmt"
	"os"
	"strconv"
	"syscall"
)

// Restart begins this process again as program, with these arguments (the program's name is the first) and this environment.
// There, [Received] returns the secret under the name, which stands for a variable. It returns only where that cannot be.
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
