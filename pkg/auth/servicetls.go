package auth

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
)

// TLS returns the two sides of mutual TLS for connections that are not gRPC; nil where it is not configured.
func (s ServiceAuth) TLS() (server, client *tls.Config, err error) {
	if !s.tls() {
		return nil, nil, nil
	}
	pool, err := s.load()
	if err != nil {
		return nil, nil, err
	}
	server = &tls.Config{
		MinVersion: tls.VersionTLS13,
		ClientAuth: tls.RequireAndVerifyClientCert,
		ClientCAs:  pool,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			return s.certificate()
		},
	}
	client = &tls.Config{
		MinVersion: tls.VersionTLS13,
		ServerName: s.ServerName,
		RootCAs:    pool,
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			return s.certificate()
		},
	}
	return server, client, nil
}

// load returns the authorities, having made sure that the certificate can be read too.
func (s ServiceAuth) load() (*x509.CertPool, error) {
	if _, err := s.certificate(); err != nil {
		return nil, err
	}
	raw, err := os.ReadFile(s.CA)
	if err != nil {
		return nil, fmt.Errorf("SERVICE_TLS_CA: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(raw) {
		return nil, fmt.Errorf("SERVICE_TLS_CA: %s holds no certificate", s.CA)
	}
	return pool, nil
}

// certificate reads the files anew: handshakes between services are rare, and certificates are renewed under running
// pods.
func (s ServiceAuth) certificate() (*tls.Certificate, error) {
	cert, err := tls.LoadX509KeyPair(s.Cert, s.Key)
	if err != nil {
		return nil, fmt.Errorf("SERVICE_TLS_CERT, SERVICE_TLS_KEY: %w", err)
	}
	return &cert, nil
}
