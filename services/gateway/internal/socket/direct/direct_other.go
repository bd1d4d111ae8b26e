//go:build !(linux || darwin || freebsd || netbsd || openbsd)

package direct

import "net"

// Writer writes to a socket without waiting; not on this system.
type Writer struct{}

// New returns nil.
func New(net.Conn) *Writer { return nil }

// Write writes nothing.
func (*Writer) Write([]byte) int { return 0 }
