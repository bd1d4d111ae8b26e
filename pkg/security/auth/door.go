package auth

import (
	"errors"
	"fmt"
	"net"
)

// Door checks at the start of a program that its gRPC port asks for credentials ([ServiceAuth.Enabled]): the port believes a
// caller whatever user it names. [Door.Open] says that nobody else reaches the port.
type Door struct {
	Open bool `conf:"open-services" env:"OPEN_SERVICES" help:"serve gRPC without mutual TLS or a service token: anyone who reaches the port can call as any user"`
}

// Check refuses a port without credentials, unless Open is set.
func (d Door) Check(s ServiceAuth) error {
	if d.Open || s.Enabled() {
		return nil
	}
	return errors.New("the gRPC port asks for no credentials: set SERVICE_TOKEN or SERVICE_TLS_*, or --open-services if nobody else can reach the port")
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
