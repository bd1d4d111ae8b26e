package auth

import (
	"errors"
	"fmt"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
)

// ServiceAuth is how services authenticate each other over gRPC: by mutual TLS, by a shared token, or by both. With neither,
// every caller is believed.
type ServiceAuth struct {
	Token      config.Secret `conf:"service-token" env:"SERVICE_TOKEN" help:"token that services show each other; of several, separated by commas, the first is sent and all are accepted"`
	Cert       string        `conf:"service-tls-cert" env:"SERVICE_TLS_CERT" help:"PEM file with this service's certificate"`
	Key        string        `conf:"service-tls-key" env:"SERVICE_TLS_KEY" help:"PEM file with the certificate's key"`
	CA         string        `conf:"service-tls-ca" env:"SERVICE_TLS_CA" help:"PEM file with the authorities that sign services' certificates"`
	ServerName string        `conf:"service-tls-server-name" env:"SERVICE_TLS_SERVER_NAME" help:"name in the certificates of the services called; empty means the host that is dialled"`
}

// minServiceToken is the length of the shortest shared token, in bytes: enough that guessing is hopeless.
const minServiceToken = 16

// Validate reports what cannot work.
func (s ServiceAuth) Validate() error {
	var problems []error
	if s.tls() && (s.Cert == "" || s.Key == "" || s.CA == "") {
		problems = append(problems, errors.New("mutual TLS needs SERVICE_TLS_CERT, SERVICE_TLS_KEY and SERVICE_TLS_CA"))
	}
	for i, token := range s.Token.Keys() {
		if len(token) < minServiceToken {
			problems = append(problems, fmt.Errorf("SERVICE_TOKEN, number %d of those between commas, is shorter than %d bytes", i+1, minServiceToken))
		}
	}
	return errors.Join(problems...)
}

// Enabled reports whether callers need credentials.
func (s ServiceAuth) Enabled() bool { return s.tls() || s.Token.First() != "" }

func (s ServiceAuth) tls() bool { return s.Cert != "" || s.Key != "" || s.CA != "" }

// ServerOptions make a server refuse calls without credentials, with codes.Unauthenticated or during the TLS handshake. The
// health service answers without a token: probes have none. A connection whose call is accepted counts as known (package
// connlimit).
func (s ServiceAuth) ServerOptions() ([]grpc.ServerOption, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	var options []grpc.ServerOption
	server, _, err := s.TLS()
	if err != nil {
		return nil, err
	}
	if server != nil {
		creds, err := renew(server)
		if err != nil {
			return nil, err
		}
		options = append(options, grpc.Creds(creds))
	}
	return append(options, grpc.InTapHandle(newTokenGate(s.Token).enter)), nil
}

// DialOptions make a client show what [ServiceAuth.ServerOptions] asks for. They always hold transport credentials.
func (s ServiceAuth) DialOptions() ([]grpc.DialOption, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	_, client, err := s.TLS()
	if err != nil {
		return nil, err
	}
	creds := insecure.NewCredentials()
	if client != nil {
		if creds, err = renew(client); err != nil {
			return nil, err
		}
	}
	options := []grpc.DialOption{grpc.WithTransportCredentials(creds)}
	if first := s.Token.First(); first != "" {
		options = append(options, grpc.WithPerRPCCredentials(perRPC{"authorization": "Bearer " + first.Reveal()}))
	}
	return options, nil
}
