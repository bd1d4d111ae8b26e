package store

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
)

// An attempt whose connection broke may arrive when the run has gone on: it must not take back what was done since.
func TestLateAttempt(t *testing.T) {
	t.Parallel()
	for name, url := range map[string]func(testing.TB) string{
		"sqlite":   func(t testing.TB) string { return "sqlite://" + filepath.Join(t.TempDir(), "agents.db") },
		"postgres": testkit.Postgres,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := Open(t.Context(), Options{URL: config.Secret(url(t))})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
			ref := Ref{User: "ann", Session: "session_1"}
			l, _, err := s.Begin(t.Context(), Begin{Ref: ref, Run: "run_1", Owner: "pod", TTL: time.Hour})
			if err != nil {
				t.Fatal(err)
			}
			call := Call{ID: "a", Run: l.Run, Tool: "click", State: Started}
			asks := []Message{{Index: 2, Run: l.Run, Role: "assistant", Calls: []MessageCall{{ID: "a", Name: "click", Args: "{}"}}}}
			late, err := commitStatements(l, &Change{Calls: []Call{call}}, newChange())
			if err != nil {
				t.Fatal(err)
			}
			ended := call
			ended.State = Ended
			for _, c := range []Change{{Messages: asks, Calls: []Call{call}}, {Calls: []Call{ended}}} {
				if err := s.Commit(t.Context(), l, c); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.db.write(t.Context(), late); !errors.Is(err, errUnmet) {
				t.Errorf("a late attempt: %v", err)
			}
			if st, err := s.Load(t.Context(), ref); err != nil || st.Calls[0].State != Ended {
				t.Errorf("%+v, %v", st.Calls, err)
			}
		})
	}
}
