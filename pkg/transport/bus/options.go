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
	// Service is whose connection it is: answers to its requests come where no other kind of service may listen.
	Service access.Service
	// CredsFile is a NATS credentials file; optional.
	CredsFile string
	// TLS is required where any of it is set.
	TLS    tlsfiles.Config
	Logger *slog.Logger
}

// Admission returns what a connection shows to the servers and asks of them, and keeps it trying: credentials that are
// refused may be those of a server that has yet to hear of the new ones.
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
