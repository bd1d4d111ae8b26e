package store_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
)

// long is a lease that no test outlives.
const long = time.Hour

var ref = store.Ref{User: "ann", Session: "session_1"}

// beginning is a Begin whose fields a test changes.
func beginning(run string) store.Begin {
	return store.Begin{
		Ref: ref, Run: run, Owner: "pod-1", TTL: long, Title: "A title", Mode: "agent", Settings: []byte("sealed " + run),
		Message: "Do it, " + run,
	}
}

func begin(t *testing.T, s *store.Store, b store.Begin) (store.Lease, store.State) {
	t.Helper()
	l, st, err := s.Begin(t.Context(), b)
	if err != nil {
		t.Fatalf("begin %s: %v", b.Run, err)
	}
	return l, st
}

func commit(t *testing.T, s *store.Store, l store.Lease, c store.Change) {
	t.Helper()
	if err := s.Commit(t.Context(), l, c); err != nil {
		t.Fatalf("commit: %v", err)
	}
}

func load(t *testing.T, s *store.Store, r store.Ref) store.State {
	t.Helper()
	st, err := s.Load(t.Context(), r)
	if err != nil {
		t.Fatalf("load: %v", err)
	}
	return st
}

// must ends the test unless err is what it should be; nil for none.
func must(t *testing.T, err, want error) {
	t.Helper()
	if want == nil && err != nil || want != nil && !errors.Is(err, want) {
		t.Fatalf("error is %v, want %v", err, want)
	}
}

// texts are events with the numbers first, first+1, ...
func texts(l store.Lease, first int64, content ...string) []*agentv1.Event {
	var out []*agentv1.Event
	for i, c := range content {
		out = append(out, &agentv1.Event{
			Seq: first + int64(i), SessionId: string(l.Session), RunId: l.Run, At: timestamppb.New(time.UnixMilli(1700000000123)),
			Kind: &agentv1.Event_Text{Text: &agentv1.Text{Content: c, MessageId: "m"}},
		})
	}
	return out
}

// interrupted begins a run that waits for a decision about calls a and b; c needs none.
func interrupted(t *testing.T, s *store.Store, expires time.Time) store.Lease {
	t.Helper()
	l, st := begin(t, s, beginning("run_1"))
	change := store.Change{
		Messages: []store.Message{{
			Index: len(st.Messages) + 1, Run: l.Run, Role: "assistant", Content: "I shall",
			Calls: []store.MessageCall{{ID: "a", Name: "click", Args: `{"x":1}`}, {ID: "b", Name: "type", Args: `{}`}, {ID: "c", Name: "list", Args: `{}`}},
		}},
		Events: texts(l, st.LastSeq+1, "I ", "shall"),
		End: &store.End{FinishReason: "interrupt", Interrupt: &agentv1.Interrupt{
			InterruptId: "int_1", Reason: "approval", ToolCalls: []*agentv1.PendingCall{{ToolCallId: "a"}, {ToolCallId: "b"}},
		}},
	}
	for i, c := range change.Messages[0].Calls {
		call := store.Call{ID: c.ID, Run: l.Run, Position: i, Tool: c.Name, Args: []byte(c.Args), State: store.Ready}
		if c.ID != "c" {
			call.State, call.Interrupt, call.Expires, call.Node, call.NodeMark, call.Digest =
				store.Waiting, "int_1", expires, "desk", "mark", "digest-"+c.ID
		}
		change.Calls = append(change.Calls, call)
	}
	commit(t, s, l, change)
	return l
}

// decided is the decision "approved" about all that waits.
func decided(st store.State, owner string) store.Decide {
	d := store.Decide{Ref: st.Ref, Owner: owner, TTL: long, InterruptID: st.Interrupt.GetInterruptId()}
	for _, c := range st.Calls {
		if c.State == store.Waiting {
			c.State, c.Decision, c.Decided, c.Expires = store.Ready, "approved", time.UnixMilli(1700000000000), time.Time{}
			d.Calls = append(d.Calls, c)
		}
	}
	return d
}

// race runs the same on n stores at once and returns how many had no error, and the others' errors.
func race(n int, do func(i int) error) (won int, lost []error) {
	var mu sync.Mutex
	var all sync.WaitGroup
	start := make(chan struct{})
	var count atomic.Int64
	for i := range n {
		all.Go(func() {
			<-start
			err := do(i)
			if err == nil {
				count.Add(1)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			lost = append(lost, err)
		})
	}
	close(start)
	all.Wait()
	return int(count.Load()), lost
}

func stores(n int, open func() *store.Store) []*store.Store {
	out := make([]*store.Store, n)
	for i := range out {
		out[i] = open()
	}
	return out
}

func session(i int) ids.SessionID { return ids.SessionID(fmt.Sprintf("session_%03d", i)) }
