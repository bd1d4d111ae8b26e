//go:build !(linux || darwin || freebsd || netbsd || openbsd)

package conn

// Gone reports whether the connection has ended; that the client has hung up only its reader learns on this system.
func (c *Conn) Gone() bool { return c.Reason() != Open }
