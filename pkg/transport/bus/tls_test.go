package bus_test

import (
	"context"
	"crypto/tls"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/hecaton-dev/hecaton/pkg/security/access"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
	"github.com/hecaton-dev/hecaton/pkg/transport/embedded"
	"github.com/hecaton-dev/hecaton/pkg/transport/tlsfiles"
)

// secured is a NATS server that speaks TLS only and believes clients of an authority.
func secured(t *testing.T, files tlsfiles.Config) *server.Server {
	t.Helper()
	config, err := files.Server()
	if err != nil {
		t.Fatal(err)
	}
	config.MinVersion, config.Certificates = tls.VersionTLS12, nil
	config.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		cert, err := files.Certificate()
		return &cert, err
	}
	o := &server.Options{Host: "127.0.0.1", Port: -1, NoSigs: true, NoLog: true, TLSConfig: config, TLSTimeout: 5}
	embedded.Admission{Passwords: access.Passwords{access.Gateway: "word"}}.Apply(o)
	s, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("no server")
	}
	return s
}

func try(t *testing.T, s *server.Server, files tlsfiles.Config) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	c, err := bus.Connect(ctx, bus.Options{
		URL: "nats://gateway:word@" + s.Addr().String(), Service: access.Gateway, TLS: files, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	if err == nil {
		c.Close()
	}
	return err
}

func TestTLS(t *testing.T) {
	t.Parallel()
	ca, other := testkit.NewAuthority(t), testkit.NewAuthority(t)
	good, foreign := ca.Issue("gateway"), other.Issue("gateway")
	s := secured(t, ca.Issue("nats"))
	if err := try(t, s, good); err != nil {
		t.Fatal(err)
	}
	for name, files := range map[string]tlsfiles.Config{
		"none":                    {},
		"no certificate":          {CA: good.CA},
		"a server of another":     {CA: foreign.CA, Cert: good.Cert, Key: good.Key},
		"a certificate of others": {CA: good.CA, Cert: foreign.Cert, Key: foreign.Key},
		"another server's name":   {CA: good.CA, Cert: good.Cert, Key: good.Key, ServerName: "redis"},
		"authorities of nobody":   {CA: good.Key, Cert: good.Cert, Key: good.Key},
		"a lone certificate":      {CA: good.CA, Cert: good.Cert},
		"a file that is not":      {CA: good.CA + ".none"},
	} {
		if err := try(t, s, files); err == nil {
			t.Errorf("%s: it connects", name)
		}
	}
	good.ServerName = "nats"
	if err := try(t, s, good); err != nil {
		t.Errorf("the server's name: %v", err)
	}
	clear := testkit.OwnNATS(t)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if c, err := bus.Connect(ctx, bus.Options{URL: clear.URL(), TLS: good}); err == nil {
		c.Close()
		t.Error("it talks in clear to a server that has no TLS")
	}
}

// Files that were renewed count from the next connection on, under a connection that is there already.
func TestTLSFilesAreReadAgain(t *testing.T) {
	t.Parallel()
	ca, next := testkit.NewAuthority(t), testkit.NewAuthority(t)
	served, shown := ca.Issue("nats"), ca.Issue("gateway")
	s := secured(t, served)
	c, err := bus.Connect(t.Context(), bus.Options{URL: "nats://gateway:word@" + s.Addr().String(), Service: access.Gateway, TLS: shown})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	renewed := next.Issue("nats")
	testkit.Replace(t, served.Cert, renewed.Cert)
	testkit.Replace(t, served.Key, renewed.Key)
	testkit.Replace(t, shown.CA, renewed.CA)
	back := make(chan struct{}, 1)
	c.OnReconnect(func() { back <- struct{}{} })
	if err := c.ForceReconnect(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-back:
	case <-time.After(20 * time.Second):
		t.Fatal("it does not come back")
	}
}
