package pgserver_test

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/pkg/testkit/pgserver"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// put makes an empty program.
func put(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0o755); err != nil {
		t.Fatal(err)
	}
}

func TestNewest(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	if _, err := pgserver.Newest(root, "postgres"); !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("nowhere: %v", err)
	}
	for _, version := range []string{"common", "9", "9.6", "17", "8"} {
		put(t, filepath.Join(root, version, "bin", "postgres"))
	}
	if got, err := pgserver.Newest(root, "postgres"); got != filepath.Join(root, "17", "bin", "postgres") || err != nil {
		t.Errorf("%s, %v", got, err)
	}
	if _, err := pgserver.Newest(root, "initdb"); !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("another program: %v", err)
	}
}

// What was named is taken, or nothing.
func TestNamedDirectory(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TEST_POSTGRES_BIN", dir)
	put(t, filepath.Join(dir, "postgres"))
	if got, err := pgserver.Program("postgres"); got != filepath.Join(dir, "postgres") || err != nil {
		t.Errorf("%s, %v", got, err)
	}
	if _, err := pgserver.Program("initdb"); err == nil || pgserver.Installed() {
		t.Errorf("a server without initdb: %v", err)
	}
	if err := pgserver.Create(t.TempDir()); err == nil || !strings.Contains(err.Error(), "initdb") {
		t.Errorf("created without initdb: %v", err)
	}
	put(t, filepath.Join(dir, "initdb"))
	if !pgserver.Installed() {
		t.Error("both are there")
	}
}

// A server runs on its data, whoever runs the test, and ends when it is asked to.
func TestServer(t *testing.T) {
	t.Parallel()
	if !pgserver.Installed() {
		t.Skip("PostgreSQL is not on this machine")
	}
	// Not t.TempDir: what is above that is for the test's user alone.
	dir, err := os.MkdirTemp("", "pgserver-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if err := pgserver.Create(dir); err != nil {
		t.Fatal(err)
	}
	server, err := pgserver.Command(dir, "127.0.0.1", testkit.FreePort(), "fsync=off")
	if err != nil {
		t.Fatal(err)
	}
	said, err := server.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	ready := false
	for lines := bufio.NewScanner(said); lines.Scan(); {
		if strings.Contains(lines.Text(), pgserver.Ready) {
			ready = true
			if err := server.Process.Signal(os.Interrupt); err != nil {
				t.Error(err)
			}
		}
	}
	if err := server.Wait(); err != nil || !ready {
		t.Errorf("ready: %t, it ends with %v", ready, err)
	}
}
