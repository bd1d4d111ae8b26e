package store_test

import (
	"errors"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store/storetest"
)

func TestBeginCreatesASession(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s := open()
		b := beginning("run_1")
		b.History = []store.Message{{Role: "user", Content: "before"}, {Role: "assistant", Content: "yes \x00\xff"}}
		l, st := begin(t, s, b)
		if l.Ref != ref || l.Run != "run_1" || l.Token != 1 {
			t.Errorf("lease is %+v", l)
		}
		if st.Status != store.Running || st.Title != "A title" || st.Mode != "agent" || st.Run.ID != "run_1" ||
			st.Session.Run != "run_1" || st.LastSeq != 0 || st.FinishReason != "" || string(st.Run.Settings) != "sealed run_1" ||
			time.Since(st.Created) > time.Minute || !st.Created.Equal(st.Updated) || st.Ref != ref {
			t.Errorf("state is %+v", st)
		}
		if m := st.Messages; len(m) != 3 || m[1].Index != 2 || m[1].Content != "yes \x00\xff" || m[1].Run != "" ||
			m[2].Index != 3 || m[2].Role != "user" || m[2].Content != "Do it, run_1" || m[2].Run != "run_1" {
			t.Errorf("messages are %+v", m)
		}
		commit(t, s, l, store.Change{End: &store.End{FinishReason: "stop"}})

		b = beginning("run_2")
		b.History, b.Title, b.Mode = []store.Message{{Role: "user", Content: "unused"}}, "Another", "plan"
		l, st = begin(t, s, b)
		if l.Token != 2 || st.Title != "A title" || st.Mode != "plan" || string(st.Run.Settings) != "sealed run_2" ||
			len(st.Messages) != 4 || st.Messages[3].Index != 4 || st.Messages[3].Content != "Do it, run_2" {
			t.Errorf("the second run began with %+v, %+v", l, st)
		}
	})
}

func TestBeginRefusesMalformedIDs(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t)
	for _, r := range []store.Ref{{User: "ann"}, {Session: "s"}, {User: "ann", Session: "a\x00b"}, {User: "a\xff", Session: "s"}} {
		b := beginning("run_1")
		b.Ref = r
		_, _, err := s.Begin(t.Context(), b)
		must(t, err, errs.InvalidArgument)
	}
}

func TestOneRunAtATime(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		pods := stores(4, open)
		for round, again := range []string{"absent", "idle"} {
			leases := make([]store.Lease, 16)
			won, lost := race(len(leases), func(i int) (err error) {
				b := beginning(again + string(rune('a'+i)))
				leases[i], _, err = pods[i%len(pods)].Begin(t.Context(), b)
				return err
			})
			if won != 1 {
				t.Fatalf("%d runs began in a session that was %s", won, again)
			}
			for _, err := range lost {
				must(t, err, errs.RunActive)
			}
			if st := load(t, pods[0], ref); len(st.Messages) != round+1 {
				t.Errorf("%d messages after %d runs", len(st.Messages), round+1)
			}
			for _, l := range leases {
				if l.Run != "" {
					commit(t, pods[1], l, store.Change{End: &store.End{FinishReason: "stop"}})
				}
			}
		}
	})
}

func TestIdempotencyKey(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		pods := stores(3, open)
		// Each names another session, as requests that name none do.
		refs := make([]store.Ref, 12)
		won, lost := race(len(refs), func(i int) error {
			b := beginning("run_" + string(rune('a'+i)))
			b.Session, b.IdempotencyKey = session(i), "key"
			refs[i] = b.Ref
			_, _, err := pods[i%len(pods)].Begin(t.Context(), b)
			return err
		})
		if won != 1 || len(lost) != len(refs)-1 {
			t.Fatalf("%d runs began with one key", won)
		}
		var first *store.AlreadyBegun
		for _, err := range lost {
			var got *store.AlreadyBegun
			if !errors.As(err, &got) {
				t.Fatalf("error is %v", err)
			}
			if first == nil {
				first = got
			}
			if *got != *first || got.FirstSeq != 1 {
				t.Errorf("begun was %+v, and %+v", *got, *first)
			}
		}
		list, _, err := pods[0].Sessions(t.Context(), ref.User, 0, "")
		must(t, err, nil)
		if len(list) != 1 || list[0].Ref != first.Ref || list[0].Run != first.Run {
			t.Errorf("sessions are %+v, begun was %+v", list, first)
		}

		other := beginning("run_other")
		other.User, other.IdempotencyKey = "bob", "key"
		begin(t, pods[0], other)

		must(t, pods[0].Delete(t.Context(), first.Ref), nil)
		after := beginning("run_after")
		after.IdempotencyKey = "key"
		begin(t, pods[0], after)
	})
}

// A retry of a request whose run is active, or over, is told which run that was, and where it began.
func TestIdempotencyKeyOfALaterRun(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s := open()
		l, _ := begin(t, s, beginning("run_1"))
		commit(t, s, l, store.Change{Events: texts(l, 1, "a", "b"), End: &store.End{FinishReason: "stop"}})
		b := beginning("run_2")
		b.IdempotencyKey = "key"
		l, _ = begin(t, s, b)
		for range 2 {
			b.Run = "run_3"
			_, _, err := s.Begin(t.Context(), b)
			var got *store.AlreadyBegun
			if !errors.As(err, &got) || got.Run != "run_2" || got.FirstSeq != 3 || got.Ref != ref {
				t.Fatalf("error is %v", err)
			}
			_ = s.Commit(t.Context(), l, store.Change{End: &store.End{FinishReason: "stop"}}) // then it is over
		}
	})
}

// Two users may use the same session id: they have two sessions.
func TestSessionsOfOthersAreAbsent(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s := open()
		l, _ := begin(t, s, beginning("run_1"))
		commit(t, s, l, store.Change{Events: texts(l, 1, "hers")})
		other := store.Ref{User: "bob", Session: ref.Session}
		check := func(want error) {
			t.Helper()
			_, err := s.Session(t.Context(), other)
			must(t, err, want)
			_, err = s.Load(t.Context(), other)
			must(t, err, want)
			_, err = s.Events(t.Context(), other, 0, 0)
			must(t, err, want)
			_, err = s.Messages(t.Context(), other, "", 0, 0)
			must(t, err, want)
			_, err = s.CallsByID(t.Context(), other, []string{"a"})
			must(t, err, want)
		}
		check(errs.SessionNotFound)
		_, _, err := s.RequestCancel(t.Context(), other)
		must(t, err, errs.SessionNotFound)
		must(t, s.Delete(t.Context(), other), errs.SessionNotFound)
		_, _, err = s.Decide(t.Context(), store.Decide{Ref: other, Owner: "p", TTL: long})
		must(t, err, errs.SessionNotFound)

		b := beginning("run_bob")
		b.Ref = other
		begin(t, s, b)
		check(nil)
		if events, err := s.Events(t.Context(), other, 0, 0); err != nil || len(events) != 0 {
			t.Errorf("bob's session has %v, %v", events, err)
		}
		must(t, s.Delete(t.Context(), other), nil)
		if events, err := s.Events(t.Context(), ref, 0, 0); err != nil || len(events) != 1 {
			t.Errorf("ann's session has %v, %v", events, err)
		}
		if list, _, err := s.Sessions(t.Context(), ids.UserID("bob"), 0, ""); err != nil || len(list) != 0 {
			t.Errorf("bob has %v, %v", list, err)
		}
	})
}

func TestExpiredInterrupt(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		pods := stores(3, open)
		s := pods[0]
		interrupted(t, s, time.Now().Add(-time.Second))
		won, lost := race(9, func(i int) error {
			_, _, err := pods[i%len(pods)].Begin(t.Context(), beginning("next_"+string(rune('a'+i))))
			return err
		})
		if won != 1 {
			t.Fatalf("%d runs began after an expired interrupt: %v", won, lost)
		}
		for _, err := range lost {
			must(t, err, errs.RunActive)
		}
		st := load(t, s, ref)
		if st.Status != store.Running || len(st.Messages) != 6 || st.Interrupt != nil || len(st.Calls) != 0 {
			t.Fatalf("state is %+v", st)
		}
		for i, id := range []string{"a", "b", "c"} {
			if m := st.Messages[2+i]; m.Role != "tool" || m.CallID != id || m.Run != "run_1" || m.Content == "" || m.Index != 3+i {
				t.Errorf("message is %+v", m)
			}
		}
		if m := st.Messages[5]; m.Role != "user" || m.Index != 6 {
			t.Errorf("message is %+v", m)
		}
		events, err := s.Events(t.Context(), ref, 2, 0)
		must(t, err, nil)
		wantUndone(t, events, "timeout timeout cancelled")
		calls, err := s.CallsByID(t.Context(), ref, []string{"a", "b", "c", "none"})
		must(t, err, nil)
		for _, c := range calls {
			want := "timeout"
			if c.ID == "c" {
				want = "" // nobody was asked about it
			}
			if c.State != store.Ended || c.Decision != want || !c.Expires.IsZero() {
				t.Errorf("call is %+v", c)
			}
		}
	})
}

func TestInterruptThatHasTimeLeft(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s := open()
		interrupted(t, s, time.Now().Add(time.Hour))
		before := load(t, s, ref)
		_, _, err := s.Begin(t.Context(), beginning("run_2"))
		must(t, err, errs.Interrupted)
		if after := load(t, s, ref); len(after.Messages) != len(before.Messages) || after.Calls[0].State != store.Waiting {
			t.Errorf("a refused Begin changed %+v", after)
		}
	})
}
