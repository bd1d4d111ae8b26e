package auth

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"

	"google.golang.org/grpc/credentials"

	"github.com/hecaton-dev/hecaton/pkg/transport/tlsfiles"
)

// TLS returns what makes the two sides of mutual TLS, for each connection anew; nil where it is not configured.
func (s ServiceAuth) TLS() (server, client func() (*tls.Config, error), err error) {
	if !s.tls() {
		return nil, nil, nil
	}
	files := tlsfiles.Config{CA: s.CA, Cert: s.Cert, Key: s.Key, ServerName: s.ServerName}
	if err := files.Check(); err != nil {
		return nil, nil, fmt.Errorf("SERVICE_TLS_CA, SERVICE_TLS_CERT, SERVICE_TLS_KEY: %w", err)
	}
	client = func() (*tls.Config, error) {
		c, err := files.Client()
		if err == nil {
			c.MinVersion = tls.VersionTLS13
		}
		return c, err
	}
	return files.Server, client, nil
}

// renewed are transport credentials of gRPC that are made for each connection: certificates and authorities are renewed
// under running pods.
type renewed struct {
	credentials.TransportCredentials // made at the start, for what is no handshake
	config                           func() (*tls.Config, error)
}

// renew returns credentials of what config returns.
func renew(config func() (*tls.Config, error)) (credentials.TransportCredentials, error) {
	first, err := config()
	if err != nil {
		return nil, err
	}
	return renewed{credentials.NewTLS(first), config}, nil
}

// ClientHandshake implements [credentials.TransportCredentials].
func (r renewed) ClientHandshake(ctx context.Context, authority string, conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	c, err := r.config()
	if err != nil {
		return nil, nil, err
	}
	return credentials.NewTLS(c).ClientHandshake(ctx, authority, conn)
}

// ServerHandshake implements [credentials.TransportCredentials].
func (r renewed) ServerHandshake(conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	c, err := r.config()
	if err != nil {
		return nil, nil, err
	}
	return credentials.NewTLS(c).ServerHandshake(conn)
}

// Clone implements [credentials.TransportCredentials].
func (r renewed) Clone() credentials.TransportCredentials {
	return renewed{r.TransportCredentials.Clone(), r.config}
}
