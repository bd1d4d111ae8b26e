package store_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store/storetest"
)

// Many runs commit at once, so that changes share transactions, while their leases are renewed. A change that cannot be
// made fails by itself; what was committed with it is there.
func TestCommitsOfManyRunsAtOnce(t *testing.T) {
	t.Parallel()
	const runs, changes = 40, 12
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s := open()
		leases := make([]store.Lease, runs)
		for i := range leases {
			b := beginning(fmt.Sprint("run_", i))
			b.Session = session(i)
			leases[i], _ = begin(t, s, b)
		}
		fails := func(run int) error {
			switch run % 4 {
			case 2:
				return store.ErrLeaseLost
			case 3:
				return store.ErrSequence
			}
			return nil
		}
		var committing sync.WaitGroup
		for i, l := range leases {
			committing.Go(func() {
				for seq := range int64(changes) {
					err := s.Commit(t.Context(), l, store.Change{Events: texts(l, seq+1, fmt.Sprint(i))})
					if err != nil {
						t.Errorf("run %d: %v", i, err)
					}
				}
				last := store.Change{Events: texts(l, changes+1, "last"), Messages: []store.Message{{Index: 2, Role: "assistant"}}}
				switch want := fails(i); {
				case errors.Is(want, store.ErrLeaseLost):
					l.Token++
				case errors.Is(want, store.ErrSequence):
					last.Events = texts(l, changes+5, "last")
				}
				if err := s.Commit(t.Context(), l, last); !errors.Is(err, fails(i)) {
					t.Errorf("run %d: the last commit's error is %v, want %v", i, err, fails(i))
				}
			})
		}
		committing.Go(func() {
			for range 10 {
				if lost, _, err := s.Renew(t.Context(), "pod-1", long, leases); err != nil || len(lost) > 0 {
					t.Errorf("renew: %d lost, %v", len(lost), err)
				}
			}
		})
		committing.Wait()
		for i, l := range leases {
			want := changes
			if fails(i) == nil {
				want++
			}
			events, err := s.Events(t.Context(), l.Ref, 0, 0)
			if err != nil || len(events) != want {
				t.Errorf("run %d: %d events, want %d; %v", i, len(events), want, err)
			}
			if got := len(load(t, s, l.Ref).Messages); got != want-changes+1 {
				t.Errorf("run %d: %d messages", i, got)
			}
		}
	})
}
