package store_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store/storetest"
)

// Of all who want to use an approval one does, and one that has expired is nobody's.
func TestCallApprovals(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		here, there := open(), open()
		ctx := t.Context()
		a := store.CallApproval{
			ID: "a", User: "ana", Digest: "d", Tool: "click", Args: "{}", Why: "why", Created: time.UnixMilli(time.Now().UnixMilli()),
			Expires: time.UnixMilli(time.Now().Add(time.Hour).UnixMilli()),
		}
		must(t, here.AskApproval(ctx, a), nil)
		got, err := there.CallApproval(ctx, "ana", "a")
		a.State = store.ApprovalWaiting
		if err != nil || got != a {
			t.Fatalf("%+v, %v", got, err)
		}
		_, err = there.CallApproval(ctx, "bob", "a")
		must(t, err, errs.ApprovalNotFound)
		var moved atomic.Int32
		var work sync.WaitGroup
		for i := range 8 {
			work.Go(func() {
				s, next := []*store.Store{here, there}[i%2], a
				next.State = store.ApprovalApproved
				if ok, err := s.MoveApproval(ctx, next, store.ApprovalWaiting); err != nil {
					t.Error(err)
				} else if ok {
					moved.Add(1)
				}
			})
		}
		work.Wait()
		if moved.Load() != 1 {
			t.Errorf("%d have decided", moved.Load())
		}
		if open, err := here.OpenApprovals(ctx, "ana", "d"); err != nil || len(open) != 1 || open[0].State != store.ApprovalApproved {
			t.Errorf("%+v, %v", open, err)
		}
		a.State, a.Expires = store.ApprovalUsed, time.UnixMilli(time.Now().Add(-time.Minute).UnixMilli())
		if ok, err := here.MoveApproval(ctx, a, store.ApprovalApproved); err != nil || !ok {
			t.Errorf("%t, %v", ok, err)
		}
		_, err = there.CallApproval(ctx, "ana", "a")
		must(t, err, errs.ApprovalNotFound)
		for n := range store.MaxCallApprovals + 1 {
			more := a
			more.ID, more.Expires = fmt.Sprint(n), time.Now().Add(time.Hour)
			var want error
			if n == store.MaxCallApprovals {
				want = errs.LimitReached
			}
			must(t, here.AskApproval(ctx, more), want)
		}
		if list, err := there.WaitingCalls(ctx, "ana"); err != nil || len(list) != store.MaxCallApprovals {
			t.Errorf("%d, %v", len(list), err)
		}
	})
}
