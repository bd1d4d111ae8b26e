package store_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
)

// Over TLS as the URL asks for it: the server is verified, or nothing is said to it.
func TestPostgresOverTLS(t *testing.T) {
	t.Parallel()
	ca, other := testkit.NewAuthority(t), testkit.NewAuthority(t)
	server, good, foreign := testkit.OwnPostgres(t, ca.Issue("database")), ca.Issue("agent-orchestrator"), other.Issue("agent-orchestrator")
	clear := testkit.OwnPostgres(t)
	url := func(s *testkit.PostgresServer, host, ca string) string {
		return fmt.Sprintf("postgres://postgres@%s/postgres?sslmode=verify-full&sslrootcert=%s&sslcert=%s&sslkey=%s", host+s.Addr()[len("127.0.0.1"):], ca, good.Cert, good.Key)
	}
	open := func(url string) (*store.Store, error) {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		return store.Open(ctx, store.Options{URL: config.Secret(url)})
	}
	authorities := filepath.Join(t.TempDir(), "ca.pem")
	testkit.Replace(t, authorities, good.CA)
	s, err := open(url(server, "127.0.0.1", authorities))
	if err != nil {
		t.Fatal(err)
	}
	must(t, s.Check(t.Context()), nil)
	for name, wrong := range map[string]string{
		"a server of another":  url(server, "127.0.0.1", foreign.CA),
		"another server":       url(server, "127.0.0.2", good.CA),
		"a server without TLS": url(clear, "127.0.0.1", good.CA),
	} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		if got, err := store.Open(ctx, store.Options{URL: config.Secret(wrong)}); err == nil {
			t.Errorf("%s: it opens", name)
			must(t, got.Close(), nil)
		}
		cancel()
	}
	// A store that is open reads what was renewed with its next connection.
	testkit.Replace(t, authorities, foreign.CA)
	server.Restart()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	if err := s.Check(ctx); err == nil {
		t.Error("the authority was replaced, and the server of the old one is believed")
	}
	cancel()
	testkit.Replace(t, authorities, good.CA)
	testkit.Eventually(t, 20*time.Second, func() bool { return s.Check(t.Context()) == nil }, "the old authority is back, and so is the store")
	must(t, s.Close(), nil)
	must(t, os.Remove(authorities), nil)
	if _, err := open(url(server, "127.0.0.1", authorities)); err == nil {
		t.Error("it opens without the authorities that it was told")
	}
}
