package store_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store/storetest"
)

// Pods that start at once on an empty database find the schema whole.
func TestPodsOpenAtOnce(t *testing.T) {
	t.Parallel()
	for name, url := range map[string]func(testing.TB) string{"sqlite": storetest.SQLite, "postgres": testkit.Postgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := url(t)
			pods := make([]*store.Store, 6)
			_, lost := race(len(pods), func(i int) (err error) {
				pods[i], err = store.Open(t.Context(), store.Options{URL: config.Secret(at)})
				return err
			})
			for _, err := range lost {
				t.Error(err)
			}
			for i, s := range pods {
				if s == nil {
					continue
				}
				must(t, s.Check(t.Context()), nil)
				b := beginning("run")
				b.Session = session(i)
				begin(t, s, b)
				must(t, s.Close(), nil)
			}
		})
	}
}

func TestOpenSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"":                           "neither",
		"mysql://x":                  "neither",
		"sqlite:relative.db":         "absolute",
		"sqlite://relative.db":       "absolute",
		"sqlite:///no/such/dir/x.db": "no such file",
		"postgres://u:hunter2@127.0.0.1:1/x?connect_timeout=1": "connect",
		"postgres://u:hunter2@127.0.0.1:port/x":                "URL",
	} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second) // a server that is away is waited for
		s, err := store.Open(ctx, store.Options{URL: config.Secret(url)})
		cancel()
		if err == nil {
			_ = s.Close()
			t.Errorf("opened %q", url)
			continue
		}
		if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: error is %v", url, err)
		}
	}
}

func TestFileIsForItsOwnerOnly(t *testing.T) {
	t.Parallel()
	url := storetest.SQLite(t)
	s := storetest.At(t, url)
	begin(t, s, beginning("run_1"))
	files, err := filepath.Glob(strings.TrimPrefix(url, "sqlite://") + "*")
	if err != nil || len(files) < 3 {
		t.Fatalf("files are %v, %v", files, err)
	}
	for _, f := range files {
		info, err := os.Stat(f)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(f, ".lock") { // empty
			continue
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", f, info.Mode())
		}
	}
}

func TestGivenUpContext(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s := open()
		l, _ := begin(t, s, beginning("run_1"))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		must(t, s.Commit(ctx, l, store.Change{}), context.Canceled)
		_, err := s.Load(ctx, ref)
		must(t, err, context.Canceled)
		commit(t, s, l, store.Change{Events: texts(l, 1, "x")})
	})
}

// Two processes work on one file: nothing is lost, nothing happens twice.
func TestTwoProcessesOnOneFile(t *testing.T) {
	const at, who = "STORE_TEST_URL", "STORE_TEST_WHO"
	const runs, steps = 12, 20
	work := func(t *testing.T, s *store.Store, owner string) (won int) {
		t.Helper()
		for i := range runs {
			b := beginning("run_" + owner)
			b.Session, b.Owner = session(i), owner
			l, _, err := s.Begin(t.Context(), b)
			if errors.Is(err, errs.RunActive) {
				continue
			}
			must(t, err, nil)
			won++
			for seq := range int64(steps) {
				commit(t, s, l, store.Change{Events: texts(l, seq+1, owner)})
			}
		}
		return won
	}
	if url := os.Getenv(at); url != "" {
		won := work(t, storetest.At(t, url), os.Getenv(who))
		os.Stdout.WriteString("\nwon " + strconv.Itoa(won) + "\n")
		return
	}
	t.Parallel()
	url := storetest.SQLite(t)
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), at+"="+url, who+"=child")
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := storetest.At(t, url)
	won := work(t, s, "parent")
	if err := cmd.Wait(); err != nil {
		t.Fatalf("the other process: %v: %s", err, &out)
	}
	_, line, _ := strings.Cut(out.String(), "\nwon ")
	theirs, err := strconv.Atoi(strings.SplitN(line, "\n", 2)[0])
	if err != nil || won+theirs != runs {
		t.Errorf("%d + %d of %d runs began: %v", won, theirs, runs, err)
	}
	for i := range runs {
		r := ref
		r.Session = session(i)
		events, err := s.Events(t.Context(), r, 0, 0)
		must(t, err, nil)
		if len(events) != steps {
			t.Errorf("%s has %d events", r.Session, len(events))
		}
		for _, e := range events {
			if e.GetText().GetContent() != events[0].GetText().GetContent() {
				t.Errorf("%s has events of both", r.Session)
			}
		}
	}
}
