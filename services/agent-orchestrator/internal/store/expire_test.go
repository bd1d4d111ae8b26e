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

// While a node must be chosen, a call that will be asked about later waits without a time of its own. It does not keep the
// session waiting for ever, nor is what a person has said of another call before lost.
func TestExpiredChoiceOfANode(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s := open()
		choose := func(ref store.Ref, run string, expires time.Time) {
			b := beginning(run)
			b.Ref = ref
			l, _ := begin(t, s, b)
			commit(t, s, l, store.Change{
				Messages: []store.Message{{Index: 2, Run: l.Run, Role: "assistant", Calls: []store.MessageCall{
					{ID: "a", Name: "click", Args: "{}"}, {ID: "b", Name: "pay", Args: "{}"}, {ID: "c", Name: "type", Args: "{}"},
				}}},
				Calls: []store.Call{
					{ID: "a", Run: l.Run, Tool: "click", State: store.Waiting, Interrupt: "int_1", Expires: expires},
					{ID: "b", Run: l.Run, Position: 1, Tool: "pay", State: store.Waiting},
					{ID: "c", Run: l.Run, Position: 2, Tool: "type", State: store.Ready, Decision: "rejected", Reason: "too dear"},
				},
				Events: texts(l, 1, "I ", "shall"),
				End:    &store.End{FinishReason: "interrupt", Interrupt: &agentv1.Interrupt{InterruptId: "int_1", Reason: "node_selection"}},
			})
		}
		next := beginning("run_2")
		next.Session = "session_2"
		choose(next.Ref, "run_0", time.Now().Add(time.Hour))
		_, _, err := s.Begin(t.Context(), next)
		must(t, err, errs.Interrupted)

		choose(ref, "run_1", time.Now().Add(-time.Second))
		next.Ref = ref
		_, st := begin(t, s, next)
		events, err := s.Events(t.Context(), ref, 2, 0)
		must(t, err, nil)
		wantUndone(t, events, "timeout timeout rejected")
		if m := st.Messages[4]; m.CallID != "c" || !strings.Contains(m.Content, "rejected") || !strings.Contains(m.Content, "too dear") {
			t.Errorf("the model is told %q of what was rejected", m.Content)
		}
	})
}

// Who waits for a decision goes by the database's time.
func TestStateHasTheTime(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s := open()
		interrupted(t, s, time.Now().Add(time.Hour))
		if now := load(t, s, ref).Now; time.Since(now).Abs() > time.Minute {
			t.Errorf("the time is %v", now)
		}
	})
}
