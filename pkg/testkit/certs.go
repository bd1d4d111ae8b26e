package testkit

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/transport/tlsfiles"
)

// Authority signs certificates, for an hour.
type Authority struct {
	t    testing.TB
	dir  string
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
}

// NewAuthority returns an authority with files in a directory of the test's.
func NewAuthority(t testing.TB) *Authority {
	t.Helper()
	a := &Authority{t: t, dir: t.TempDir(), key: a256(t)}
	template := certificate("authority")
	template.IsCA, template.BasicConstraintsValid, template.KeyUsage = true, true, x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, template, template, a.key.Public(), a.key)
	if err == nil {
		a.cert, err = x509.ParseCertificate(der)
	}
	if err != nil {
		t.Fatalf("testkit: %v", err)
	}
	a.write("ca.pem", "CERTIFICATE", der)
	return a
}

// Issue returns the files of a certificate for a name and 127.0.0.1, which its holder may show as server and as client. The
// same name again renews the files in place.
func (a *Authority) Issue(name string) tlsfiles.Config {
	a.t.Helper()
	key, template := a256(a.t), certificate(name)
	template.DNSNames, template.IPAddresses = []string{name}, []net.IP{net.IPv4(127, 0, 0, 1)}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		a.t.Fatalf("testkit: %v", err)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		a.t.Fatalf("testkit: %v", err)
	}
	return tlsfiles.Config{
		CA: filepath.Join(a.dir, "ca.pem"), Cert: a.write(name+".pem", "CERTIFICATE", der), Key: a.write(name+".key", "PRIVATE KEY", raw),
	}
}

func (a *Authority) write(name, kind string, der []byte) string {
	a.t.Helper()
	path := filepath.Join(a.dir, name)
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		a.t.Fatalf("testkit: %v", err)
	}
	return path
}

func a256(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatalf("testkit: %v", err)
	}
	return key
}

func certificate(name string) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}
}

// Replace puts the contents of one file in the place of another, as a renewal does.
func Replace(t testing.TB, file, by string) {
	t.Helper()
	raw, err := os.ReadFile(by)
	if err == nil {
		err = os.WriteFile(file, raw, 0o600)
	}
	if err != nil {
		t.Fatalf("testkit: %v", err)
	}
}
