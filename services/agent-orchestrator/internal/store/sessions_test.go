package store_test

import (
	"slices"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store/storetest"
)

func TestSessionsAreListedByChange(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s := open()
		var want []ids.SessionID
		var first store.Lease
		for i := range 7 {
			b := beginning("run")
			b.Session, b.Run = session(i), string(session(i))
			l, _ := begin(t, s, b)
			if i == 0 {
				first = l
			} else {
				want = append([]ids.SessionID{b.Session}, want...)
			}
			began := time.Now().UnixMilli() // as times are kept
			testkit.Eventually(t, time.Minute, func() bool { return time.Now().UnixMilli() > began }, "time goes on")
		}
		// Text does not count as a change, an end does.
		commit(t, s, first, store.Change{Events: texts(first, 1, "x")})
		if list, _, _ := s.Sessions(t.Context(), ref.User, 1, ""); list[0].Session == first.Session {
			t.Error("a piece of text moved its session")
		}
		commit(t, s, first, store.Change{End: &store.End{FinishReason: "stop"}})
		want = append([]ids.SessionID{first.Session}, want...)
		for _, limit := range []int{1, 2, 3, 7, 8, 0, 1000} {
			var got []ids.SessionID
			for cursor, pages := "", 0; ; pages++ {
				list, next, err := s.Sessions(t.Context(), ref.User, limit, cursor)
				must(t, err, nil)
				for _, one := range list {
					got = append(got, one.Session)
				}
				if cursor = next; next == "" || pages > 8 {
					break
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("with pages of %d: %v, want %v", limit, got, want)
			}
		}
		for _, cursor := range []string{"x", "!", "MS4y.", "MQ"} {
			_, _, err := s.Sessions(t.Context(), ref.User, 0, cursor)
			must(t, err, errs.InvalidArgument)
		}
	})
}

func TestListedSessionsSayWhatTheyWaitFor(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s := open()
		interrupted(t, s, time.Now().Add(time.Hour))
		list, _, err := s.Sessions(t.Context(), ref.User, 0, "")
		if err != nil || len(list) != 1 || list[0].Interrupt.GetInterruptId() != "int_1" || list[0].Ref != ref {
			t.Errorf("sessions are %+v, %v", list, err)
		}
		one, err := s.Session(t.Context(), ref)
		if err != nil || one.Interrupt.GetInterruptId() != "int_1" || one.Ref != ref || one.LastSeq != 2 {
			t.Errorf("session is %+v, %v", one, err)
		}
	})
}

func TestDelete(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s := open()
		interrupted(t, s, time.Now().Add(time.Hour))
		must(t, s.Delete(t.Context(), ref), nil)
		must(t, s.Delete(t.Context(), ref), errs.SessionNotFound)
		_, err := s.Session(t.Context(), ref)
		must(t, err, errs.SessionNotFound)
		_, st := begin(t, s, beginning("run_1"))
		if len(st.Messages) != 1 || st.LastSeq != 0 || len(st.Calls) != 0 {
			t.Errorf("the new session has of the old one %+v", st)
		}
	})
}

// A run that commits while its session is deleted leaves nothing behind.
func TestDeleteAgainstCommits(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		pods := stores(2, open)
		l, _ := begin(t, pods[0], beginning("run_1"))
		race(2, func(i int) error {
			if i == 0 {
				return pods[0].Delete(t.Context(), ref)
			}
			for seq := int64(1); ; seq++ {
				if err := pods[1].Commit(t.Context(), l, store.Change{Events: texts(l, seq, "x")}); err != nil {
					must(t, err, store.ErrLeaseLost)
					return err
				}
			}
		})
		begin(t, pods[0], beginning("run_1"))
		if events, err := pods[0].Events(t.Context(), ref, 0, 0); err != nil || len(events) != 0 {
			t.Errorf("%d events are left: %v", len(events), err)
		}
	})
}
