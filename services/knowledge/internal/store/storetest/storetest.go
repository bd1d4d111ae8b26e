// Package storetest hands tests a store, on each kind of database that there is.
package storetest

import (
	"path/filepath"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/knowledge/internal/store"
)

// Open returns a store on an empty SQLite file; it is closed with the test.
func Open(t testing.TB) *store.Store {
	t.Helper()
	return At(t, SQLite(t))
}

// SQLite returns the URL of a file that is not there yet.
func SQLite(t testing.TB) string { return "sqlite://" + filepath.Join(t.TempDir(), "knowledge.db") }

// At returns a store at a URL; it is closed with the test.
func At(t testing.TB, url string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{URL: config.Secret(url), Quota: store.Quota{Bases: 50}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close the store: %v", err)
		}
	})
	return s
}

// Each runs a test on every kind of database, in parallel, each time on an empty one: on PostgreSQL with pgvector where the server has
// it. open returns a further store on the same database, as another pod would; on a machine without PostgreSQL that half is skipped.
func Each(t *testing.T, test func(t *testing.T, open func() *store.Store)) {
	t.Helper()
	for name, url := range map[string]func(testing.TB) string{"sqlite": SQLite, "postgres": testkit.Postgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := url(t)
			test(t, func() *store.Store {
				t.Helper()
				return At(t, at)
			})
		})
	}
}
