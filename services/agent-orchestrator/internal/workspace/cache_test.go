package workspace_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/workspace"
)

func client(t testing.TB, url string) redis.UniversalClient {
	t.Helper()
	options, err := redis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	c := redis.NewClient(options)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// pods opens one directory twice over one Redis, and once without.
func pods(t testing.TB, redisURL string) (a, b, direct *workspace.Store) {
	t.Helper()
	url := workspace.DirURL(filepath.Join(t.TempDir(), "files"))
	return open(t, workspace.Options{URL: url, Redis: client(t, redisURL)}), open(t, workspace.Options{URL: url, Redis: client(t, redisURL)}),
		open(t, workspace.Options{URL: url})
}

// A file that is read again comes from Redis; whatever a pod of the cluster changes, the others see at once.
func TestCache(t *testing.T) {
	t.Parallel()
	a, b, direct := pods(t, testkit.OwnRedis(t).URL())
	put(t, a, "ana", "x", "one")
	put(t, a, "ben", "x", "ben's")
	wantFile(t, a, "ana", "x", "one")
	wantFile(t, b, "ben", "x", "ben's")
	if got := list(t, b, "ana", ""); got != "x" {
		t.Errorf("listed: %s", got)
	}
	// Somebody changes the storage behind the cache's back: that it does not show proves that the cache serves.
	put(t, direct, "ana", "x", "behind")
	put(t, direct, "ana", "y", "behind")
	wantFile(t, b, "ana", "x", "one")
	if got := list(t, b, "ana", ""); got != "x" {
		t.Errorf("listed: %s", got)
	}
	for name, change := range map[string]func(){
		"put":    func() { put(t, a, "ana", "z", "") },
		"delete": func() { _ = a.Delete(t.Context(), "ana", "z") },
	} {
		change()
		wantFile(t, b, "ana", "x", "behind")
		if got := list(t, b, "ana", ""); !strings.HasPrefix(got, "x y") {
			t.Errorf("after %s listed: %s", name, got)
		}
	}
	wantFile(t, b, "ben", "x", "ben's")
	if err := a.Delete(t.Context(), "ana", "x"); err != nil {
		t.Error(err)
	}
	if _, _, err := b.Get(t.Context(), "ana", "x"); !errors.Is(err, errs.FileNotFound) {
		t.Errorf("after the delete: %v", err)
	}
}

// What is large is not kept in Redis.
func TestLargeFilesAreNotCached(t *testing.T) {
	t.Parallel()
	a, _, direct := pods(t, testkit.OwnRedis(t).URL())
	large := strings.Repeat("x", 256<<10+1)
	put(t, a, "ana", "x", large)
	wantFile(t, a, "ana", "x", large)
	put(t, direct, "ana", "x", "now small")
	wantFile(t, a, "ana", "x", "now small")
}

// Redis away, back, or empty is nobody's error.
func TestRedisAway(t *testing.T) {
	t.Parallel()
	server := testkit.OwnRedis(t)
	a, b, _ := pods(t, server.URL())
	put(t, a, "ana", "x", "one")
	wantFile(t, b, "ana", "x", "one")
	server.Flush()
	wantFile(t, b, "ana", "x", "one")
	server.Stop()
	put(t, a, "ana", "x", "two")
	wantFile(t, a, "ana", "x", "two")
	wantFile(t, b, "ana", "x", "two")
	if got := list(t, b, "ana", ""); got != "x" {
		t.Errorf("listed: %s", got)
	}
	server.Start()
	put(t, a, "ana", "x", "three")
	wantFile(t, b, "ana", "x", "three")
}
