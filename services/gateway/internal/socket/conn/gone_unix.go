//go:build linux || darwin || freebsd || netbsd || openbsd

package conn

import (
	"errors"
	"syscall"
)

// Gone reports whether the client has hung up, as far as this machine has heard, also while nobody reads. It takes nothing
// from the socket and does not wait. A client that sent something before it hung up is not told from one that is there.
func (c *Conn) Gone() bool {
	if c.Reason() != Open {
		return true
	}
	socket, ok := c.wire.Conn.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return true
	}
	var n int
	var failure error
	err = raw.Control(func(fd uintptr) {
		var next [1]byte
		n, _, failure = syscall.Recvfrom(int(fd), next[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	})
	switch {
	case err != nil:
		return true
	case errors.Is(failure, syscall.EAGAIN) || errors.Is(failure, syscall.EINTR):
		return false
	}
	return n <= 0
}
