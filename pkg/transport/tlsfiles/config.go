package tlsfiles

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
)

// Config names the PEM files of one side of TLS.
type Config struct {
	CA         string `conf:"ca" env:"CA" help:"PEM file with the authorities that sign the server's certificate; if set, TLS is required; if empty, the system's authorities count"`
	Cert       string `conf:"cert" env:"CERT" help:"PEM file with this client's certificate"`
	Key        string `conf:"key" env:"KEY" help:"PEM file with the certificate's key"`
	ServerName string `conf:"server-name" env:"SERVER_NAME" help:"name in the server's certificate; empty means the host that is dialled"`
}

// Enabled reports whether anything is set: TLS is required then.
func (c Config) Enabled() bool { return c != Config{} }

// Validate reports what cannot work.
func (c Config) Validate() error {
	if (c.Cert == "") != (c.Key == "") {
		return errors.New("TLS: a certificate needs its key, and a key its certificate")
	}
	return nil
}

// Check reads every file once, so that what is wrong with them is told at the start.
func (c Config) Check() error {
	_, err := c.Client()
	return err
}

// Client returns the side that dials, of what the files hold now.
func (c Config) Client() (*tls.Config, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	t := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: c.ServerName}
	var err error
	if c.CA != "" {
		if t.RootCAs, err = c.Authorities(); err != nil {
			return nil, err
		}
	}
	if c.Cert != "" {
		cert, err := c.Certificate()
		if err != nil {
			return nil, err
		}
		t.Certificates = []tls.Certificate{cert}
	}
	return t, nil
}

// Server returns the side that listens, of what the files hold now; who dials has to show a certificate of the
// authorities.
func (c Config) Server() (*tls.Config, error) {
	pool, err := c.Authorities()
	if err != nil {
		return nil, err
	}
	cert, err := c.Certificate()
	if err != nil {
		return nil, err
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS13, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool, Certificates: []tls.Certificate{cert},
	}, nil
}

// Authorities reads CA.
func (c Config) Authorities() (*x509.CertPool, error) {
	raw, err := os.ReadFile(c.CA)
	if err != nil {
		return nil, fmt.Errorf("TLS authorities: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(raw) {
		return nil, fmt.Errorf("TLS authorities: %s holds no certificate", c.CA)
	}
	return pool, nil
}

// Certificate reads Cert and Key.
func (c Config) Certificate() (tls.Certificate, error) {
	cert, err := tls.LoadX509KeyPair(c.Cert, c.Key)
	if err != nil {
		return cert, fmt.Errorf("TLS certificate: %w", err)
	}
	return cert, nil
}
