package store_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store/storetest"
)

func TestAUserHasSoManyRuns(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s := open()
		one := func(user string, i int) store.Begin {
			b := beginning(fmt.Sprintf("run_%s_%d", user, i))
			b.User, b.Session, b.MaxRuns = ids.UserID(user), ids.SessionID(fmt.Sprintf("s%d", i)), 2
			b.IdempotencyKey = b.Run
			return b
		}
		limited := func(err error) {
			t.Helper()
			var e *errs.Error
			if !errors.As(err, &e) || e.Reason != errs.RunsLimited || e.Limit == nil || e.Limit.Limit != 2 {
				t.Errorf("got %v", err)
			}
		}
		first, _ := begin(t, s, one("ana", 1))
		begin(t, s, one("ana", 2))
		_, _, err := s.Begin(t.Context(), one("ana", 3))
		limited(err)
		begin(t, s, one("ben", 1))
		// What has begun is found by its key all the same.
		again := one("ana", 1)
		again.Run = "run_again"
		var before *store.AlreadyBegun
		if _, _, err := s.Begin(t.Context(), again); !errors.As(err, &before) || before.Run != first.Run {
			t.Errorf("the same key: %v", err)
		}
		commit(t, s, first, store.Change{End: &store.End{FinishReason: "stop"}})
		full := one("ana", 3)
		full.Full = true
		_, _, err = s.Begin(t.Context(), full)
		limited(err)
		begin(t, s, one("ana", 3))
		free := one("ana", 4)
		free.MaxRuns = 0
		begin(t, s, free)
	})
}
