//go:build linux || darwin || freebsd || netbsd || openbsd

package conn

import (
	"net"
	"syscall"
)

// direct writes to a socket without waiting. It is for one goroutine at a time.
type direct struct {
	raw  syscall.RawConn
	call func(fd uintptr) bool // once, so that a write allocates nothing

	data []byte
	n    int
}

// newDirect returns nil where the connection is no plain socket, such as one with TLS in this process.
func newDirect(socket net.Conn) *direct {
	s, ok := socket.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return nil
	}
	d := &direct{raw: raw}
	d.call = d.attempt
	return d
}

// write returns how much the socket took. Why it was not all, an ordinary write tells.
func (d *direct) write(p []byte) int {
	d.data, d.n = p, 0
	_ = d.raw.Write(d.call) // on an error it was not called
	d.data = nil
	return max(0, d.n)
}

func (d *direct) attempt(fd uintptr) (done bool) {
	d.n, _ = syscall.Write(int(fd), d.data)
	return true
}
