package testkit

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/testkit/pgserver"
	"github.com/hecaton-dev/hecaton/pkg/transport/embedded"
	"github.com/hecaton-dev/hecaton/pkg/transport/tlsfiles"
)

var sharedPostgres = shared{kind: postgresKind(), env: "TEST_POSTGRES_URL"}

// Postgres returns the postgres:// URL of an empty database of this test's own, on a server shared by every test of the
// binary; it is dropped with the test. On a machine without PostgreSQL the test is skipped.
func Postgres(t testing.TB) string {
	t.Helper()
	needPostgres(t)
	base, err := url.Parse(sharedPostgres.url(t))
	if err != nil {
		t.Fatalf("testkit: %s: %v", sharedPostgres.env, err)
	}
	if in := sharedPostgres.server; in != nil {
		base = postgresURL(in)
	}
	name := strings.ToLower(strings.ReplaceAll(Prefix(t), "-", "_"))
	administer(t, "createdb", "--maintenance-db="+base.String(), name)
	t.Cleanup(func() { administer(t, "dropdb", "--maintenance-db="+base.String(), "--force", name) })
	own := *base
	own.Path = "/" + name
	return own.String()
}

// PostgresServer is a Server that keeps its data while it is stopped.
type PostgresServer struct{ *Server }

// OwnPostgres starts a PostgreSQL for this test alone; it ends with the test. With a certificate it takes TLS too.
// TEST_POSTGRES_URL is not consulted. On a machine without PostgreSQL the test is skipped.
func OwnPostgres(t testing.TB, certificate ...tlsfiles.Config) *PostgresServer {
	t.Helper()
	if !pgserver.Installed() {
		withoutPostgres(t)
	}
	return &PostgresServer{own(t, postgresKind(certificate...))}
}

// URL is that of the database "postgres", the same before and after a restart.
func (s *PostgresServer) URL() string { return postgresURL(s.in).String() }

// Restart stops the server and starts it again: transactions in progress are undone, what was committed is there.
func (s *PostgresServer) Restart() {
	s.t.Helper()
	s.Stop()
	s.Start()
}

// Kill ends the server as a crash does. Start brings it back, which recovers first.
func (s *PostgresServer) Kill() {
	s.t.Helper()
	if p, ok := s.in.backend.(*process); ok {
		s.in.backend = nil
		p.kill()
	}
}

func postgresURL(in *instance) *url.URL {
	return &url.URL{
		Scheme: "postgres", User: url.User("postgres"), Host: in.addr(), Path: "/postgres", RawQuery: "sslmode=disable",
	}
}

// needPostgres skips the test where there is no server to share.
func needPostgres(t testing.TB) {
	t.Helper()
	if os.Getenv(sharedPostgres.env) == "" && !pgserver.Installed() {
		withoutPostgres(t)
	}
}

// withoutPostgres skips the test, or fails it where only real servers will do: nothing stands in for PostgreSQL.
func withoutPostgres(t testing.TB) {
	t.Helper()
	if os.Getenv("TEST_REQUIRE_REAL") == "1" {
		t.Fatal("testkit: TEST_REQUIRE_REAL=1, and PostgreSQL is not on this machine")
	}
	t.Skip("PostgreSQL is not on this machine, and TEST_POSTGRES_URL is not set")
}

// administer runs a client program of PostgreSQL.
func administer(t testing.TB, program string, args ...string) {
	t.Helper()
	bin, err := pgserver.Program(program)
	if err != nil {
		t.Fatalf("testkit: %s: %v", program, err)
	}
	if out, err := exec.Command(bin, args...).CombinedOutput(); err != nil {
		t.Fatalf("testkit: %s: %v: %s", program, err, out)
	}
}

// postgresKind is a server with a data directory of its own, which is there from its first start until it is dropped.
func postgresKind(certificate ...tlsfiles.Config) kind {
	c := &cluster{certificate: certificate}
	return kind{name: "postgres", sources: []source{
		{name: "postgres on this machine", start: c.start, drop: c.drop},
	}}
}

// cluster is what PostgreSQL calls the data of one server.
type cluster struct {
	dir         string
	certificate []tlsfiles.Config // of the server; one at most
}

func (c *cluster) start(port int) (backend, error) {
	if !pgserver.Installed() {
		return nil, errUnavailable
	}
	if c.dir == "" {
		if err := c.create(); err != nil {
			return nil, err
		}
	}
	// What a killed server's children hold is free as soon as they have noticed.
	for until := time.Now().Add(readyWithin); ; time.Sleep(20 * time.Millisecond) { // nothing tells when
		p, err := c.run(port)
		switch {
		case err == nil:
			return p, nil
		case strings.Contains(err.Error(), "Address already in use"):
			return nil, fmt.Errorf("%w: %w", embedded.ErrListen, err)
		case !strings.Contains(err.Error(), "pre-existing shared memory block") || time.Now().After(until):
			return nil, err
		}
	}
}

// run starts the server on the data. Nothing waits for the disk: what is written outlives the server, not the machine.
func (c *cluster) run(port int) (*process, error) {
	settings := []string{
		"fsync=off", "full_page_writes=off", "max_connections=300", "shared_buffers=32MB", "max_wal_size=64MB", "dynamic_shared_memory_type=mmap",
	}
	for _, files := range c.certificate {
		for setting, file := range map[string]string{"ssl_cert_file": files.Cert, "ssl_key_file": files.Key} {
			own, err := pgserver.Own(c.dir, file)
			if err != nil {
				return nil, err
			}
			settings = append(settings, setting+"="+own)
		}
		settings = append(settings, "ssl=on")
	}
	cmd, err := pgserver.Command(c.dir, loopback, port, settings...)
	if err != nil {
		return nil, err
	}
	return startCommand(pgserver.Ready, os.Interrupt, cmd)
}

// create makes an empty cluster.
func (c *cluster) create() (err error) {
	if c.dir, err = os.MkdirTemp("", "testkit-postgres-"); err != nil {
		return err
	}
	if err := pgserver.Create(c.dir, "--wal-segsize=4"); err != nil {
		return errors.Join(err, c.drop())
	}
	return nil
}

func (c *cluster) drop() error {
	dir := c.dir
	c.dir = ""
	return os.RemoveAll(dir)
}
