//go:build linux || darwin || freebsd || netbsd || openbsd

package direct

import (
	"net"
	"syscall"
)

// Writer writes to a socket without waiting. It is for one goroutine at a time.
type Writer struct {
	raw  syscall.RawConn
	call func(fd uintptr) bool // once, so that a write allocates nothing

	data []byte
	n    int
}

// New returns nil where the connection is no plain socket, such as one with TLS in this process.
func New(socket net.Conn) *Writer {
	s, ok := socket.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return nil
	}
	d := &Writer{raw: raw}
	d.call = d.attempt
	return d
}

// Write returns how much the socket took, which is nothing where there is no Writer. Why it was not all, an ordinary write tells.
func (d *Writer) Write(p []byte) int {
	if d == nil {
		return 0
	}
	d.data, d.n = p, 0
	_ = d.raw.Write(d.call) // on an error it was not called
	d.data = nil
	return max(0, d.n)
}

func (d *Writer) attempt(fd uintptr) (done bool) {
	d.n, _ = syscall.Write(int(fd), d.data)
	return true
}
