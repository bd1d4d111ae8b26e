package store_test

import (
	"strings"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store/storetest"
)

func TestOneDecisionWins(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		pods := stores(4, open)
		interrupted(t, pods[0], time.Now().Add(time.Hour))
		st := load(t, pods[0], ref)
		leases := make([]store.Lease, 12)
		won, lost := race(len(leases), func(i int) (err error) {
			leases[i], _, err = pods[i%4].Decide(t.Context(), decided(st, "pod"))
			return err
		})
		if won != 1 {
			t.Fatalf("%d decisions won: %v", won, lost)
		}
		for _, err := range lost {
			must(t, err, errs.AlreadyDecided)
		}
		for _, l := range leases {
			if l.Run != "" {
				commit(t, pods[0], l, store.Change{Events: texts(l, 3, "on")})
			}
		}
	})
}

func TestDecide(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s := open()
		old := interrupted(t, s, time.Now().Add(time.Hour))
		d := decided(load(t, s, ref), "pod-2")
		d.Settings = []byte("new settings")
		d.Calls[0].Args, d.Calls[0].Decision = []byte(`{"x":2}`), "modified"
		d.Calls[1].Decision, d.Calls[1].Reason = "rejected", "no"
		d.Messages = []store.Message{{Role: "user", Content: "carefully"}}
		wrong := d
		wrong.InterruptID = "int_0"
		_, _, err := s.Decide(t.Context(), wrong)
		must(t, err, errs.AlreadyDecided)
		wrong = d
		wrong.Calls = []store.Call{{ID: "forged"}}
		if _, _, err := s.Decide(t.Context(), wrong); err == nil {
			t.Error("a call that nobody asked about was decided")
		}

		l, st, err := s.Decide(t.Context(), d)
		must(t, err, nil)
		if l.Token != old.Token+1 || l.Run != "run_1" || st.Status != store.Running || st.Interrupt != nil || st.FinishReason != "" ||
			string(st.Run.Settings) != "new settings" {
			t.Errorf("lease %+v, state %+v", l, st)
		}
		if c := st.Calls; len(c) != 3 || string(c[0].Args) != `{"x":2}` || c[0].Decision != "modified" || c[1].Reason != "no" ||
			c[0].State != store.Ready || !c[0].Decided.Equal(d.Calls[0].Decided) {
			t.Errorf("calls are %+v", c)
		}
		if m := st.Messages; m[1].Calls[0].Args != `{"x":2}` || m[1].Calls[1].Args != `{}` || m[2].Index != 3 ||
			m[2].Run != "run_1" || m[2].Content != "carefully" {
			t.Errorf("messages are %+v", m)
		}
		must(t, s.Commit(t.Context(), old, store.Change{}), store.ErrLeaseLost)
		commit(t, s, l, store.Change{Events: texts(l, 3, "x"), End: &store.End{FinishReason: "stop"}})
		_, _, err = s.Decide(t.Context(), d)
		must(t, err, errs.AlreadyDecided)
	})
}

func TestCancelEndsAnInterrupt(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		pods := stores(3, open)
		s := pods[0]
		interrupted(t, s, time.Now().Add(time.Hour))
		d := decided(load(t, s, ref), "pod")
		won, lost := race(6, func(i int) error {
			active, events, err := pods[i%3].RequestCancel(t.Context(), ref)
			if err == nil && active {
				wantUndone(t, events, "cancelled cancelled cancelled")
				return nil
			}
			if err == nil {
				err = errs.NotInterrupted
			}
			return err
		})
		if won != 1 {
			t.Fatalf("%d cancelled it: %v", won, lost)
		}
		st := load(t, s, ref)
		if st.Status != store.Idle || st.FinishReason != "cancelled" || st.LastSeq != 6 || st.Interrupt != nil {
			t.Errorf("session is %+v", st.Session)
		}
		for i, id := range []string{"a", "b", "c"} {
			m, c := st.Messages[2+i], st.Calls[i]
			if m.Role != "tool" || m.CallID != id || c.ID != id || c.State != store.Ended || (c.Decision == "cancelled") != (id != "c") {
				t.Errorf("message %+v, call %+v", m, c)
			}
		}
		events, err := s.Events(t.Context(), ref, 2, 0)
		must(t, err, nil)
		wantUndone(t, events, "cancelled cancelled cancelled")
		_, _, err = s.Decide(t.Context(), d)
		must(t, err, errs.AlreadyDecided)
		l, st := begin(t, s, beginning("run_2"))
		if st.LastSeq != 6 || st.Messages[5].Index != 6 {
			t.Errorf("state is %+v", st)
		}
		commit(t, s, l, store.Change{Events: texts(l, 7, "x")})
	})
}

// wantUndone checks what clients hear of the calls of an interrupt, a to c, that ended without a decision, and of the run.
func wantUndone(t *testing.T, events []*agentv1.Event, outcomes string) {
	t.Helper()
	want := strings.Fields(outcomes)
	if len(events) != len(want)+1 {
		t.Fatalf("events are %v", events)
	}
	for i, e := range events {
		if e.GetSeq() != int64(3+i) || e.GetRunId() != "run_1" || e.GetSessionId() != string(ref.Session) || e.GetAt() == nil {
			t.Errorf("event is %v", e)
		}
		if i == len(want) {
			break
		}
		r := e.GetToolCallResult()
		if r.GetToolCallId() != string(rune('a'+i)) || r.GetToolName() == "" || r.GetOutcome() != want[i] || !r.GetIsError() || r.GetResult() == "" {
			t.Errorf("result is %v", r)
		}
	}
	if last := events[len(want)]; last.GetComplete().GetFinishReason() != "cancelled" {
		t.Errorf("the last event is %v", last)
	}
}

// A decision and a cancel that meet: one of them happened.
func TestDecisionAgainstCancel(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		pods := stores(2, open)
		interrupted(t, pods[0], time.Now().Add(time.Hour))
		d := decided(load(t, pods[0], ref), "pod")
		var decideErr error
		race(2, func(i int) error {
			if i == 0 {
				_, _, decideErr = pods[0].Decide(t.Context(), d)
			} else if _, _, err := pods[1].RequestCancel(t.Context(), ref); err != nil {
				t.Errorf("cancel: %v", err)
			}
			return nil
		})
		st := load(t, pods[0], ref)
		if decideErr == nil && (st.Status != store.Running || st.Calls[0].Decision != "approved") ||
			decideErr != nil && (st.Status != store.Idle || st.Calls[0].Decision != "cancelled") {
			t.Errorf("decide: %v, but %+v", decideErr, st)
		}
		if decideErr != nil {
			must(t, decideErr, errs.AlreadyDecided)
		}
	})
}
