package bus

import (
	"crypto/tls"
	"fmt"
	"log/slog"

	"github.com/nats-io/nats.go"

	"github.com/hecaton-dev/hecaton/pkg/security/access"
	"github.com/hecaton-dev/hecaton/pkg/transport/tlsfiles"
)

// Options of a connection to the bus.
type Options struct {
	// URL of one or more NATS servers, separated by commas, with the service's user and password where it has them.
	URL string
	// Name shows in the servers' connection lists.
	Name string
	// Service is the kind of service that connects: only it may subscribe to the answers to its requests.
	Service access.Service
	// CredsFile is a NATS credentials file; optional.
	CredsFile string
	// TLS is required where any of it is set.
	TLS    tlsfiles.Config
	Logger *slog.Logger
}

// Admission returns the options for credentials and TLS. The connection goes on trying where its credentials are refused:
// the server may not know new ones yet.
func (o Options) Admission() ([]nats.Option, error) {
	opts := []nats.Option{nats.Name(o.Name), nats.IgnoreAuthErrorAbort()}
	if o.Service != "" {
		opts = append(opts, nats.CustomInboxPrefix(o.Service.Inbox()))
	}
	if o.CredsFile != "" {
		opts = append(opts, nats.UserCredentials(o.CredsFile))
	}
	if !o.TLS.Enabled() {
		return opts, nil
	}
	if err := o.TLS.Check(); err != nil {
		return nil, fmt.Errorf("bus: %w", err)
	}
	opts = append(opts, nats.Secure(&tls.Config{MinVersion: tls.VersionTLS12, ServerName: o.TLS.ServerName}))
	var cert nats.TLSCertHandler
	var authorities nats.RootCAsHandler
	if o.TLS.Cert != "" {
		cert = o.TLS.Certificate
	}
	if o.TLS.CA != "" {
		authorities = o.TLS.Authorities
	}
	if cert != nil || authorities != nil {
		opts = append(opts, nats.ClientTLSConfig(cert, authorities))
	}
	return opts, nil
}
