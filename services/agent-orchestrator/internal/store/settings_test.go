package store_test

import (
	"fmt"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store/storetest"
)

func TestSavedTools(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s := open()
		made, err := s.CreateTool(t.Context(), store.SavedTool{
			ID: "1", User: "ann", Type: "mcp", Name: "files", Enabled: true, Config: []byte(`{"a":1}`), Secrets: []byte{0, 1, 2},
		})
		must(t, err, nil)
		got, err := s.GetTool(t.Context(), "ann", "1")
		if err != nil || fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", made) || got.Created.IsZero() {
			t.Errorf("tool is %+v, %v, was made as %+v", got, err, made)
		}
		_, err = s.CreateTool(t.Context(), store.SavedTool{ID: "2", User: "ann", Type: "oauth", Name: "files"})
		must(t, err, errs.NameTaken)
		_, err = s.CreateTool(t.Context(), store.SavedTool{ID: "2", User: "bob", Type: "mcp", Name: "files"})
		must(t, err, nil)
		_, err = s.CreateTool(t.Context(), store.SavedTool{ID: "3", User: "ann", Type: "oauth", Name: "github"})
		must(t, err, nil)

		made.Name, made.Enabled, made.Secrets = "other", false, nil
		changed, err := s.UpdateTool(t.Context(), made)
		if err != nil || changed.Name != "other" || changed.Enabled || changed.Secrets != nil || !changed.Created.Equal(made.Created) {
			t.Errorf("updated to %+v, %v", changed, err)
		}
		made.Name = "github"
		_, err = s.UpdateTool(t.Context(), made)
		must(t, err, errs.NameTaken)

		list, err := s.ListTools(t.Context(), "ann")
		if err != nil || len(list) != 2 || list[0].ID != "1" || list[1].ID != "3" {
			t.Errorf("tools are %+v, %v", list, err)
		}
		theirs := changed
		theirs.User = "bob"
		_, err = s.UpdateTool(t.Context(), theirs)
		must(t, err, errs.ToolNotFound)
		_, err = s.GetTool(t.Context(), "bob", "1")
		must(t, err, errs.ToolNotFound)
		must(t, s.DeleteTool(t.Context(), "bob", "1"), errs.ToolNotFound)
		must(t, s.DeleteTool(t.Context(), "ann", "1"), nil)
		must(t, s.DeleteTool(t.Context(), "ann", "1"), errs.ToolNotFound)
	})
}

func TestSavedToolsAreLimited(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		pods := stores(2, open)
		create := func(i int) error {
			_, err := pods[i%2].CreateTool(t.Context(), store.SavedTool{
				ID: fmt.Sprint(i), User: "ann", Type: "mcp", Name: fmt.Sprint("tool", i),
			})
			return err
		}
		for i := range store.MaxSavedTools - 2 {
			must(t, create(i), nil)
		}
		won, lost := race(8, func(i int) error { return create(1000 + i) })
		if won != 2 {
			t.Errorf("%d of 2 were kept", won)
		}
		for _, err := range lost {
			must(t, err, errs.LimitReached)
		}
	})
}
