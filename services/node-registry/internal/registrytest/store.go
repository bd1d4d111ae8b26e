package registrytest

import (
	"testing"

	"github.com/hecaton-dev/hecaton/services/node-registry/internal/store"
)

// Store returns a store with these rules, over a client of its own.
func Store(t testing.TB, url string, rules store.Rules) *store.Store {
	t.Helper()
	s, err := store.New(Client(t, url), rules)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
