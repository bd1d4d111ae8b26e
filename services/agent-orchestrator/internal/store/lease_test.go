package store_test

import (
	"sync"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store/storetest"
)

// Each run whose pod is gone goes to one other pod.
func TestAdoptionIsExclusive(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		pods := stores(4, open)
		const runs = 30
		var leases []store.Lease
		for i := range runs {
			b := beginning("run")
			b.Session, b.Run = session(i), string(session(i))
			l, _ := begin(t, pods[0], b)
			leases = append(leases, l)
		}
		if got, err := pods[1].Adopt(t.Context(), "early", long, 10); err != nil || len(got) != 0 {
			t.Fatalf("adopted %v, %v from a pod that lives", got, err)
		}
		must(t, pods[0].Release(t.Context(), leases), nil)
		var mu sync.Mutex
		seen := map[string]int{}
		for len(seen) < runs {
			race(8, func(i int) error {
				got, err := pods[i%4].Adopt(t.Context(), "pod", long, 5)
				if err != nil || len(got) > 5 {
					t.Errorf("adopted %d: %v", len(got), err)
				}
				mu.Lock()
				defer mu.Unlock()
				for _, a := range got {
					seen[a.Lease.Run]++
					if a.Lease.Token != 2 || a.State.Run.ID != a.Lease.Run || len(a.State.Messages) != 1 || a.State.Ref != a.Lease.Ref {
						t.Errorf("adopted %+v", a)
					}
				}
				return nil
			})
			if t.Failed() {
				return
			}
		}
		for run, n := range seen {
			if n != 1 {
				t.Errorf("%s was adopted %d times", run, n)
			}
		}
	})
}

func TestLeaseExpires(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s := open()
		b := beginning("run_1")
		b.TTL = 10 * time.Millisecond
		l, _ := begin(t, s, b)
		var got []store.Adopted
		testkit.Eventually(t, 10*time.Second, func() bool {
			var err error
			got, err = s.Adopt(t.Context(), "pod-2", long, 1)
			must(t, err, nil)
			return len(got) > 0
		}, "the lease expires")
		must(t, s.Commit(t.Context(), l, store.Change{}), store.ErrLeaseLost)
		commit(t, s, got[0].Lease, store.Change{Events: texts(l, 1, "a")})
	})
}

// A lease that has expired and that nobody took is still good, and can be renewed.
func TestRenew(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s := open()
		lost, cancelled, err := s.Renew(t.Context(), "pod-1", long, nil)
		if lost != nil || cancelled != nil || err != nil {
			t.Errorf("renewed nothing: %v, %v, %v", lost, cancelled, err)
		}
		var leases []store.Lease
		for i := range 3 {
			b := beginning("run")
			b.Session, b.TTL = session(i), 0
			l, _ := begin(t, s, b)
			leases = append(leases, l)
		}
		commit(t, s, leases[1], store.Change{End: &store.End{FinishReason: "stop"}})
		active, events, err := s.RequestCancel(t.Context(), leases[2].Ref)
		if !active || len(events) != 0 || err != nil {
			t.Fatalf("cancel: %v, %v, %v", active, events, err)
		}
		lost, cancelled, err = s.Renew(t.Context(), "pod-1", long, leases)
		if err != nil || len(lost) != 1 || lost[0] != leases[1] || len(cancelled) != 1 || cancelled[0] != leases[2] {
			t.Errorf("lost %v, cancelled %v, %v", lost, cancelled, err)
		}
		if got, err := s.Adopt(t.Context(), "pod-2", long, 10); err != nil || len(got) != 0 {
			t.Errorf("adopted %v, %v after a renewal", got, err)
		}
		if lost, _, err := s.Renew(t.Context(), "pod-2", long, leases[:1]); err != nil || len(lost) != 1 {
			t.Errorf("another pod renewed a lease: %v, %v", lost, err)
		}
	})
}

// A cancel that nobody has heard of goes with the run, and not on to the next.
func TestCancelOutlivesThePod(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s := open()
		l, _ := begin(t, s, beginning("run_1"))
		_, _, err := s.RequestCancel(t.Context(), ref)
		must(t, err, nil)
		must(t, s.Release(t.Context(), []store.Lease{l}), nil)
		got, err := s.Adopt(t.Context(), "pod-2", long, 1)
		if err != nil || len(got) != 1 || !got[0].State.Run.CancelRequested {
			t.Fatalf("adopted %+v, %v", got, err)
		}
		commit(t, s, got[0].Lease, store.Change{End: &store.End{FinishReason: "cancelled"}})
		if active, _, err := s.RequestCancel(t.Context(), ref); active || err != nil {
			t.Errorf("cancelled an idle session: %v, %v", active, err)
		}
		if _, st := begin(t, s, beginning("run_2")); st.Run.CancelRequested {
			t.Error("the next run is cancelled too")
		}
	})
}
