package auth

import (
	"errors"
	"fmt"
	"net"
)

// Door is what a service asks of whoever runs it as a program of its own. Its gRPC port believes callers in whatever user
// they name, so it is closed to strangers ([ServiceAuth.Enabled]), unless somebody says that none come.
type Door struct {
	Open bool `conf:"open-services" env:"OPEN_SERVICES" help:"serve gRPC without mutual TLS or a service token: who reaches the port calls as any user"`
}

// Check refuses a port that is open to strangers although nobody has said so.
func (d Door) Check(s ServiceAuth) error {
	if d.Open || s.Enabled() {
		return nil
	}
	return errors.New("gRPC must be closed to strangers: set SERVICE_TOKEN or SERVICE_TLS_*, or --open-services where nobody else reaches the port")
}

// CheckBeyondLoopback is [Door.Check] for a port that may be open where only this machine reaches it: addr is what it
// listens on.
func (d Door) CheckBeyondLoopback(s ServiceAuth, addr string) error {
	if host, _, err := net.SplitHostPort(addr); err == nil && IsLoopback(host) {
		return nil
	}
	if err := d.Check(s); err != nil {
		return fmt.Errorf("--grpc-addr %s is not loopback: %w", addr, err)
	}
	return nil
}

// IsLoopback reports whether host, an address or a name, is one that only this machine reaches.
func IsLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
