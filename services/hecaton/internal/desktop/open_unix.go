//go:build unix

package desktop

import "syscall"

// openNonblock keeps open(2) from waiting for the other end of a FIFO.
const openNonblock = syscall.O_NONBLOCK
