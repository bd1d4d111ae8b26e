package store_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store/storetest"
)

func TestCommitKeepsAllOfAChange(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s := open()
		interrupted(t, s, time.UnixMilli(1900000000000))
		st := load(t, open(), ref)
		if st.Status != store.Interrupted || st.FinishReason != "interrupt" || st.LastSeq != 2 ||
			st.Interrupt.GetInterruptId() != "int_1" || len(st.Interrupt.GetToolCalls()) != 2 {
			t.Errorf("session is %+v", st.Session)
		}
		m := st.Messages[1]
		if m.Index != 2 || m.Role != "assistant" || m.Content != "I shall" ||
			!slices.Equal(m.Calls, []store.MessageCall{{ID: "a", Name: "click", Args: `{"x":1}`}, {ID: "b", Name: "type", Args: `{}`}, {ID: "c", Name: "list", Args: `{}`}}) {
			t.Errorf("message is %+v", m)
		}
		want := store.Call{
			ID: "a", Run: "run_1", Tool: "click", Args: []byte(`{"x":1}`), State: store.Waiting, Node: "desk", NodeMark: "mark",
			Digest: "digest-a", Interrupt: "int_1", Expires: time.UnixMilli(1900000000000),
		}
		if got := fmt.Sprintf("%+v", st.Calls[0]); len(st.Calls) != 3 || got != fmt.Sprintf("%+v", want) {
			t.Errorf("call is %s, want %+v", got, want)
		}

		_, _, err := s.Begin(t.Context(), beginning("x"))
		must(t, err, errs.Interrupted)
		l, st, err := s.Decide(t.Context(), decided(st, "pod-1"))
		must(t, err, nil)
		call := st.Calls[0]
		call.State = store.Ended
		steps, streaming := 7, "message_7"
		commit(t, s, l, store.Change{
			Calls: []store.Call{call}, Steps: &steps, Streaming: &streaming, Todos: []byte(`["x"]`),
			Messages: []store.Message{{Index: 3, Run: l.Run, Role: "tool", CallID: "a", Tool: "click", Content: "done"}},
		})
		st = load(t, s, ref)
		if st.Run.Steps != 7 || st.Run.Streaming != "message_7" || string(st.Todos) != `["x"]` || st.Calls[0].State != store.Ended ||
			st.Messages[2].CallID != "a" || st.Messages[2].Tool != "click" || st.LastSeq != 2 || len(st.Calls) != 3 {
			t.Errorf("state is %+v", st)
		}
		commit(t, s, l, store.Change{})
		again := load(t, s, ref)
		if again.Run.Steps != 7 || again.Run.Streaming != "message_7" || string(again.Todos) != `["x"]` {
			t.Errorf("an empty change changed it to %+v", again)
		}
	})
}

// What a summary covers is not told again; what stands between is.
func TestSummary(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s := open()
		l, _ := begin(t, s, beginning("run_1"))
		commit(t, s, l, store.Change{Messages: []store.Message{
			{Index: 2, Role: "assistant", Content: "two"}, {Index: 3, Role: "user", Content: "three"},
			{Index: 4, Role: "system", Content: "sum", Covers: 2},
		}})
		var got []int
		for _, m := range load(t, s, ref).Messages {
			got = append(got, m.Index)
		}
		if !slices.Equal(got, []int{3, 4}) {
			t.Errorf("state has messages %v", got)
		}
		all, err := s.Messages(t.Context(), ref, "", 0, 0)
		must(t, err, nil)
		if len(all) != 4 || all[3].Covers != 2 {
			t.Errorf("messages are %+v", all)
		}
		some, err := s.Messages(t.Context(), ref, "", 1, 2)
		must(t, err, nil)
		if len(some) != 2 || some[0].Index != 2 || some[1].Index != 3 {
			t.Errorf("messages after 1 are %+v", some)
		}
	})
}

func TestEvents(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s := open()
		l, _ := begin(t, s, beginning("run_1"))
		sent := texts(l, 1, "a", "b", "c", "d", "e", "f")
		sent[5].Kind = &agentv1.Event_ToolCall{ToolCall: &agentv1.ToolCall{ToolCallId: "x", ToolArgsJson: []byte("{}")}}
		commit(t, s, l, store.Change{Events: sent[:1]})
		commit(t, s, l, store.Change{Events: sent[1:4]})
		commit(t, s, l, store.Change{Events: sent[4:]})
		for after := range int64(8) {
			for limit := range 8 {
				want := sent[min(after, 6):]
				if limit > 0 {
					want = want[:min(limit, len(want))]
				}
				got, err := s.Events(t.Context(), ref, after, limit)
				must(t, err, nil)
				if !slices.EqualFunc(got, want, func(a, b *agentv1.Event) bool { return proto.Equal(a, b) }) {
					t.Errorf("events after %d, at most %d: %v, want %v", after, limit, got, want)
				}
			}
		}
		if sent[2].GetSessionId() == "" {
			t.Error("Commit changed the caller's events")
		}
	})
}

func TestEventsFollowEachOther(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s := open()
		l, _ := begin(t, s, beginning("run_1"))
		commit(t, s, l, store.Change{Events: texts(l, 1, "a", "b")})
		steps := 9
		for _, first := range []int64{1, 2, 4} {
			must(t, s.Commit(t.Context(), l, store.Change{Steps: &steps, Events: texts(l, first, "x")}), store.ErrSequence)
		}
		gap := append(texts(l, 3, "x"), texts(l, 5, "y")...)
		must(t, s.Commit(t.Context(), l, store.Change{Steps: &steps, Events: gap}), store.ErrSequence)
		if st := load(t, s, ref); st.LastSeq != 2 || st.Run.Steps != 0 {
			t.Errorf("a refused change left %+v", st)
		}
		commit(t, s, l, store.Change{Events: texts(l, 3, "c")})
	})
}

// Whoever lost the lease changes nothing, whatever took it away.
func TestLostLeaseIsFenced(t *testing.T) {
	t.Parallel()
	takeAway := map[string]func(t *testing.T, s *store.Store, l store.Lease){
		"adopted": func(t *testing.T, s *store.Store, l store.Lease) {
			must(t, s.Release(t.Context(), []store.Lease{l}), nil)
			got, err := s.Adopt(t.Context(), "pod-2", long, 10)
			if err != nil || len(got) != 1 {
				t.Fatalf("adopted %v, %v", got, err)
			}
		},
		"ended": func(t *testing.T, s *store.Store, l store.Lease) {
			commit(t, s, l, store.Change{End: &store.End{FinishReason: "stop"}})
		},
		"ended and begun": func(t *testing.T, s *store.Store, l store.Lease) {
			commit(t, s, l, store.Change{End: &store.End{FinishReason: "stop"}})
			begin(t, s, beginning("run_2"))
		},
		"deleted": func(t *testing.T, s *store.Store, l store.Lease) { must(t, s.Delete(t.Context(), l.Ref), nil) },
		"deleted and begun": func(t *testing.T, s *store.Store, l store.Lease) {
			must(t, s.Delete(t.Context(), l.Ref), nil)
			begin(t, s, beginning("run_1"))
		},
	}
	for name, take := range takeAway {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.Each(t, func(t *testing.T, open func() *store.Store) {
				s := open()
				l, _ := begin(t, s, beginning("run_1"))
				take(t, s, l)
				before, missing := s.Load(t.Context(), ref)
				late := store.Change{
					Events:   texts(l, 1, "late"),
					Messages: []store.Message{{Index: 99, Role: "assistant", Content: "late"}},
					Calls:    []store.Call{{ID: "late"}},
					End:      &store.End{FinishReason: "late"},
				}
				must(t, s.Commit(t.Context(), l, late), store.ErrLeaseLost)
				must(t, s.Commit(t.Context(), l, store.Change{}), store.ErrLeaseLost)
				lost, cancelled, err := s.Renew(t.Context(), "pod-1", long, []store.Lease{l})
				if err != nil || len(lost) != 1 || len(cancelled) != 0 {
					t.Errorf("renewed: %v, %v, %v", lost, cancelled, err)
				}
				must(t, s.Release(t.Context(), []store.Lease{l}), nil)
				after, _ := s.Load(t.Context(), ref)
				before.Now = after.Now
				if missing == nil && fmt.Sprintf("%+v", before) != fmt.Sprintf("%+v", after) {
					t.Errorf("it changed %+v to %+v", before, after)
				}
				if missing != nil {
					begin(t, s, beginning("run_9"))
				}
				if events, err := s.Events(t.Context(), ref, 0, 0); err != nil || len(events) != 0 {
					t.Errorf("it left events %v, %v", events, err)
				}
				if calls, err := s.CallsByID(t.Context(), ref, []string{"late"}); err != nil || len(calls) != 0 {
					t.Errorf("it left calls %v, %v", calls, err)
				}
			})
		})
	}
}

// A message that is there already is a fault of the caller: nothing of the change is kept.
func TestChangeIsWholeOrNothing(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s := open()
		l, _ := begin(t, s, beginning("run_1"))
		err := s.Commit(t.Context(), l, store.Change{
			Events: texts(l, 1, "x"), Messages: []store.Message{{Index: 1, Role: "assistant"}},
		})
		if err == nil {
			t.Fatal("a message was overwritten")
		}
		if st := load(t, s, ref); st.LastSeq != 0 || len(st.Messages) != 1 {
			t.Errorf("half of it was kept: %+v", st)
		}
		commit(t, s, l, store.Change{Events: texts(l, 1, "x")})
	})
}

// What a text column of PostgreSQL cannot hold is replaced where it is a name, and kept where it is a text.
func TestHostileBytes(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s := open()
		const bad = "a\x00b\xffc'; --?$1"
		b := beginning("run_1")
		b.Title, b.Message, b.IdempotencyKey, b.Mode = bad, bad, bad, bad
		l, _ := begin(t, s, b)
		commit(t, s, l, store.Change{
			Messages: []store.Message{{
				Index: 2, Role: "assistant", Content: bad, Calls: []store.MessageCall{{ID: bad, Name: bad, Args: `{"x":"\u0000"}`}},
			}},
			Calls: []store.Call{{ID: bad, Tool: bad, Reason: bad, Node: bad, Args: []byte(bad)}}, Streaming: ptr(bad),
			Todos: []byte(bad),
		})
		st := load(t, s, ref)
		if st.Messages[0].Content != bad || st.Messages[1].Content != bad || string(st.Calls[0].Args) != bad ||
			st.Messages[1].Calls[0].ID != st.Calls[0].ID || st.Title != "a\uFFFDb\uFFFDc'; --?$1" || string(st.Todos) != bad {
			t.Errorf("state is %+v", st)
		}
		calls, err := s.CallsByID(t.Context(), ref, []string{bad})
		if err != nil || len(calls) != 1 {
			t.Errorf("calls are %v, %v", calls, err)
		}
	})
}

func ptr[T any](v T) *T { return &v }

// The calls of a state are those of the last answer, also where a model uses an id again.
func TestCallsOfTheLastAnswer(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s := open()
		l, _ := begin(t, s, beginning("run_1"))
		answer := func(index int, names ...string) store.Change {
			m := store.Message{Index: index, Role: "assistant"}
			var c store.Change
			for i, id := range names {
				m.Calls = append(m.Calls, store.MessageCall{ID: id})
				c.Calls = append(c.Calls, store.Call{ID: id, Position: i, State: store.Ready})
			}
			c.Messages = []store.Message{m}
			return c
		}
		check := func(want ...string) {
			t.Helper()
			var got []string
			for _, c := range load(t, s, ref).Calls {
				got = append(got, c.ID)
			}
			if !slices.Equal(got, want) {
				t.Errorf("calls are %q, want %q", got, want)
			}
		}
		commit(t, s, l, answer(2, "b", "a"))
		check("b", "a")
		commit(t, s, l, store.Change{
			Calls: []store.Call{{ID: "a", Position: 1, State: store.Ended}}, Messages: []store.Message{{Index: 3, Role: "tool", CallID: "a"}},
		})
		check("b", "a")
		commit(t, s, l, answer(4, "c", "a"))
		check("c", "a")
		commit(t, s, l, answer(5))
		check()
		commit(t, s, l, answer(6, "d"))
		commit(t, s, l, store.Change{Messages: []store.Message{{Index: 7, Role: "system", Covers: 5}}})
		check()
		commit(t, s, l, answer(8, "e"))
		commit(t, s, l, store.Change{End: &store.End{FinishReason: "error"}})
		_, st := begin(t, s, beginning("run_2"))
		if len(st.Calls) != 0 {
			t.Errorf("the next run begins with calls %+v", st.Calls)
		}
	})
}

// Many rows go into several statements of one transaction.
func TestLargeChange(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s := open()
		l, _ := begin(t, s, beginning("run_1"))
		const n = 200
		var c store.Change
		m := store.Message{Index: 2, Role: "assistant"}
		for i := range n {
			id := fmt.Sprintf("call_%d", i)
			m.Calls = append(m.Calls, store.MessageCall{ID: id, Name: "t", Args: "{}"})
			c.Calls = append(c.Calls, store.Call{ID: id, Position: i, State: store.Ready})
		}
		c.Messages = []store.Message{m}
		for i := range n {
			c.Messages = append(c.Messages, store.Message{
				Index: 3 + i, Role: "tool", CallID: m.Calls[i].ID, Content: strings.Repeat("x", 10_000),
			})
		}
		commit(t, s, l, c)
		st := load(t, s, ref)
		if len(st.Messages) != n+2 || len(st.Calls) != n || st.Calls[n-1].ID != "call_199" {
			t.Errorf("%d messages and %d calls", len(st.Messages), len(st.Calls))
		}
	})
}
