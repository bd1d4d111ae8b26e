package store_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store/storetest"
)

func names(names ...string) (list []store.AllowedTool) {
	for _, name := range names {
		list = append(list, store.AllowedTool{Tool: name})
	}
	return list
}

func wantApprovals(t *testing.T, s *store.Store, wantMode string, want ...store.AllowedTool) {
	t.Helper()
	got, err := s.ApprovalSettings(t.Context(), "ann")
	if err != nil || got.Mode != wantMode || !slices.Equal(got.Allowed, want) {
		t.Errorf("settings are %+v, %v; want %q %+v", got, err, wantMode, want)
	}
}

func TestApprovalSettings(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s := open()
		wantApprovals(t, s, "use_allowlist")
		must(t, s.SetApprovalSettings(t.Context(), "ann", store.ApprovalSettings{Allowed: names("z", "B", "a", "z", "_")}), nil)
		wantApprovals(t, s, "use_allowlist", names("B", "_", "a", "z")...)
		must(t, s.SetApprovalSettings(t.Context(), "ann", store.ApprovalSettings{Mode: "run_everything", Allowed: names("a")}), nil)
		wantApprovals(t, s, "run_everything", names("a")...)
		entry := store.AllowedTool{Layer: "mcp", Source: "notes", Tool: "a", Fingerprint: "old"}
		renewed := entry
		renewed.Fingerprint = "new"
		must(t, s.SetApprovalSettings(t.Context(), "ann", store.ApprovalSettings{Allowed: append(names("a"), entry, renewed)}), nil)
		wantApprovals(t, s, "run_everything", append(names("a"), renewed)...)
		race(8, func(i int) error {
			list := names(fmt.Sprint("x", i), fmt.Sprint("y", i))
			must(t, s.SetApprovalSettings(t.Context(), "ann", store.ApprovalSettings{Mode: "ask_everytime", Allowed: list}), nil)
			return nil
		})
		if got, _ := s.ApprovalSettings(t.Context(), "ann"); len(got.Allowed) != 2 || got.Allowed[0].Tool[1:] != got.Allowed[1].Tool[1:] {
			t.Errorf("settings that meet are mixed: %+v", got)
		}
	})
}

// A new user has the operator's list until the first settings are saved; that something else was saved changes nothing.
func TestNewUsersList(t *testing.T) {
	t.Parallel()
	s, err := store.Open(t.Context(), store.Options{URL: config.Secret(storetest.SQLite(t)), Allowed: names("read")})
	must(t, err, nil)
	t.Cleanup(func() { must(t, s.Close(), nil) })
	wantApprovals(t, s, "use_allowlist", names("read")...)
	_, err = s.CreateTool(t.Context(), store.SavedTool{ID: "1", User: "ann", Type: "mcp", Name: "files"})
	must(t, err, nil)
	wantApprovals(t, s, "use_allowlist", names("read")...)
	must(t, s.SetApprovalSettings(t.Context(), "ann", store.ApprovalSettings{}), nil)
	wantApprovals(t, s, "use_allowlist")
}

func TestPin(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s := open()
		entry := store.AllowedTool{Layer: "connector", Source: "desk", Tool: "click"}
		pin := func(fingerprint string) bool {
			t.Helper()
			seen := entry
			seen.Fingerprint = fingerprint
			pinned, err := s.Pin(t.Context(), "ann", seen)
			must(t, err, nil)
			return pinned
		}
		if pin("one") {
			t.Error("what is not on the list was pinned")
		}
		must(t, s.SetApprovalSettings(t.Context(), "ann", store.ApprovalSettings{Allowed: []store.AllowedTool{entry}}), nil)
		for i, pinned := range []bool{pin("one"), pin("one"), pin("two")} {
			if pinned != (i < 2) {
				t.Errorf("%d: pinned is %t; the first one counts", i, pinned)
			}
		}
		entry.Fingerprint = "one"
		wantApprovals(t, s, "use_allowlist", entry)
	})
}
