package netguard

import "context"

// Dial dials as a request whose URL passed the check would.
func Dial(ctx context.Context, g *Guard, address string) error {
	conn, err := g.transport.DialContext(ctx, "tcp", address)
	if err == nil {
		_ = conn.Close()
	}
	return err
}
