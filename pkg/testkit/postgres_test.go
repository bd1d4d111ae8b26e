package testkit

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/testkit/pgserver"
)

// ask runs one query and returns its only value.
func ask(t *testing.T, url, query string) (string, error) {
	t.Helper()
	bin, err := pgserver.Program("psql")
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(bin, "-X", "-q", "-A", "-t", "-c", query, url).CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func TestPostgresDatabasesAreApart(t *testing.T) {
	t.Parallel()
	a, b := Postgres(t), Postgres(t)
	if a == b {
		t.Fatalf("one database twice: %s", a)
	}
	if out, err := ask(t, a, "CREATE TABLE t (x int)"); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if out, err := ask(t, b, "SELECT to_regclass('t') IS NULL"); err != nil || out != "t" {
		t.Errorf("the table is in the other database too: %v: %s", err, out)
	}
}

// What was committed is there after a stop and after a crash.
func TestPostgresKeepsItsData(t *testing.T) {
	t.Parallel()
	s := OwnPostgres(t)
	if out, err := ask(t, s.URL(), "CREATE TABLE t AS SELECT 42 AS x"); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for name, again := range map[string]func(){"restart": s.Restart, "crash": func() { s.Kill(); s.Start() }} {
		again()
		if out, err := ask(t, s.URL(), "SELECT x FROM t"); err != nil || out != "42" {
			t.Errorf("after a %s: %v: %s", name, err, out)
		}
	}
	s.Stop()
	if _, err := ask(t, s.URL(), "SELECT 1"); err == nil {
		t.Error("a stopped server answers")
	}
	s.Stop()
	s.Start()
}

func TestOwnPostgresLeavesNothing(t *testing.T) {
	t.Parallel()
	var dir, addr string
	t.Run("owner", func(t *testing.T) {
		c := &cluster{}
		if !pgserver.Installed() {
			withoutPostgres(t)
		}
		addr = own(t, kind{name: "postgres", sources: []source{{name: "own", start: c.start, drop: c.drop}}}).Addr()
		dir = c.dir
	})
	if dir == "" {
		t.Skip("PostgreSQL is not on this machine")
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("%s is left behind: %v", dir, err)
	}
	mustRefuse(t, addr)
}

// ending is a testing.TB that says how it ended, and ends the goroutine as a real one does.
type ending struct {
	testing.TB
	how string
}

func (e *ending) Helper() {}

func (e *ending) Skip(...any) {
	e.how = "skipped"
	runtime.Goexit()
}

func (e *ending) Fatal(...any) {
	e.how = "failed"
	runtime.Goexit()
}

func TestWithoutPostgres(t *testing.T) {
	t.Setenv("TEST_POSTGRES_BIN", t.TempDir())
	t.Setenv("TEST_POSTGRES_URL", "")
	for required, want := range map[string]string{"": "skipped", "1": "failed"} {
		t.Setenv("TEST_REQUIRE_REAL", required)
		for name, start := range map[string]func(testing.TB){
			"shared": func(tb testing.TB) { Postgres(tb) }, "own": func(tb testing.TB) { OwnPostgres(tb) },
		} {
			e, done := &ending{TB: t}, make(chan struct{})
			go func() {
				defer close(done)
				start(e)
			}()
			<-done
			if e.how != want {
				t.Errorf("%s, TEST_REQUIRE_REAL=%q: %s, want %s", name, required, e.how, want)
			}
		}
	}
}
