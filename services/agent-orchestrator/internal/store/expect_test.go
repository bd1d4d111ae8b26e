package store_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store/storetest"
)

// What is expected is what Begin does, and asking changes nothing.
func TestExpect(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s := open()
		expect := func(b store.Begin) ([]store.Message, bool) {
			t.Helper()
			messages, ok, err := s.Expect(t.Context(), b)
			if err != nil {
				t.Fatal(err)
			}
			return said(messages), ok
		}
		refused := func(when string, b store.Begin) {
			t.Helper()
			if messages, ok := expect(b); ok {
				t.Errorf("%s: it would begin with %+v", when, messages)
			}
		}
		begins := func(when string, b store.Begin) store.Lease {
			t.Helper()
			messages, ok := expect(b)
			l, state := begin(t, s, b)
			if want := said(state.Messages); !ok || !reflect.DeepEqual(messages, want) {
				t.Errorf("%s: expected were %t, %+v, and it began with %+v", when, ok, messages, want)
			}
			if messages, ok := expect(b); !ok || !reflect.DeepEqual(messages, said(state.Messages)) {
				t.Errorf("%s: after it has begun: %t, %+v", when, ok, messages)
			}
			return l
		}

		first := beginning("run_1")
		first.History = []store.Message{{Role: "user", Content: "before"}, {Role: "assistant", Content: "yes"}}
		first.IdempotencyKey = "a key"
		l := begins("a new session", first)
		refused("while a run is active", beginning("run_2"))

		other := beginning("run_3")
		other.Ref.Session = "another"
		other.MaxRuns = 1
		refused("as many runs as allowed", other)
		other.MaxRuns, other.Full = 0, true
		refused("as many on this pod", other)

		commit(t, s, l, store.Change{
			Messages: []store.Message{{Index: 4, Run: "run_1", Role: "assistant", Content: "done"}},
			End:      &store.End{FinishReason: "stop"},
		})
		again := beginning("run_4")
		again.IdempotencyKey = "a key"
		refused("a key that has begun a run", again)
		again.User = "ben"
		if _, ok := expect(again); !ok {
			t.Error("another user's key counts")
		}
		second := beginning("run_5")
		second.History = []store.Message{{Role: "user", Content: "of no use: the session has messages"}}
		second.MaxRuns = 1
		begins("a session that is idle", second)
	})
}

func TestExpectAnInterruptedSession(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t)
	interrupted(t, s, time.Now().Add(long))
	if _, ok, err := s.Expect(t.Context(), beginning("run_9")); ok || err != nil {
		t.Errorf("a session that waits for a decision: %t, %v", ok, err)
	}
}

// said is what a model is told of messages.
func said(messages []store.Message) (out []store.Message) {
	for _, m := range messages {
		out = append(out, store.Message{Run: m.Run, Role: m.Role, Content: m.Content})
	}
	return out
}
