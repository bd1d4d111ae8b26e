package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store/storetest"
)

func TestUserTokens(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		here, there := open(), open()
		ctx, now := t.Context(), time.UnixMilli(time.Now().UnixMilli())
		token := func(id string, expires time.Duration) store.UserToken {
			return store.UserToken{
				ID: id, User: "ana", Name: "n", Hash: []byte{1, 0, 2}, Scopes: []string{"full"}, Nodes: []string{"a b"},
				Created: now, Expires: now.Add(expires),
			}
		}
		for i := range store.MaxUserTokens {
			expires := time.Hour
			if i == 0 {
				expires = -time.Second
			}
			must(t, here.CreateUserToken(ctx, token(fmt.Sprintf("t%03d", i), expires)), nil)
		}
		must(t, there.CreateUserToken(ctx, token("in the place of the expired one", time.Hour)), nil)
		must(t, there.CreateUserToken(ctx, token("one more", time.Hour)), errs.LimitReached)
		found, err := there.FindUserTokens(ctx, []string{"t000", "t001", "nobody's"})
		if must(t, err, nil); len(found) != 1 || found[0].ID != "t001" || found[0].User != "ana" || string(found[0].Hash) != "\x01\x00\x02" ||
			found[0].Nodes[0] != "a b" || !found[0].Expires.Equal(now.Add(time.Hour)) {
			t.Errorf("%+v", found)
		}
		must(t, there.DeleteUserToken(ctx, "bob", "t001"), errs.TokenNotFound)
		must(t, there.DeleteUserToken(ctx, "ana", "t001"), nil)
		must(t, here.DeleteUserToken(ctx, "ana", "t001"), errs.TokenNotFound)
		if found, err = here.FindUserTokens(ctx, []string{"t001"}); err != nil || len(found) != 0 {
			t.Errorf("%+v, %v", found, err)
		}
		list, err := here.UserTokens(ctx, "ana")
		if must(t, err, nil); len(list) != store.MaxUserTokens-1 {
			t.Errorf("%d are listed", len(list))
		}
	})
}
