package names_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/names"
)

// full is a keeper of a user who has as many names as there may be.
type full struct{ asked int }

func (f *full) ClaimNames(context.Context, ids.UserID, []names.Binding) ([]names.Binding, error) {
	f.asked++
	return nil, nil
}

func (f *full) ListNames(context.Context, ids.UserID) ([]names.Binding, error) { return nil, nil }

// Who has no names left has long ones, and costs the keeper one question a minute, however often new tools are listed.
func TestWithoutNamesLeftTheKeeperIsLeftAlone(t *testing.T) {
	t.Parallel()
	keeper := &full{}
	b := names.NewBook(keeper)
	for i := range 100 {
		tool := fmt.Sprint("tool", i)
		if got := b.Names(t.Context(), "ana", []names.Owner{{Node: "n1", Tool: tool}}); got[0] != "n1__"+tool {
			t.Errorf("%q", got)
		}
	}
	if keeper.asked != 1 {
		t.Errorf("asked %d times", keeper.asked)
	}
	b.Names(t.Context(), "bob", []names.Owner{{Node: "n1", Tool: "click"}})
	if keeper.asked != 2 {
		t.Errorf("another user's names are not claimed: %d", keeper.asked)
	}
}
