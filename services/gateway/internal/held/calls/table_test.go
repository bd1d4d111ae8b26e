package calls_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/held/calls"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/held/codec"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/conn"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/frame"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// socket records what a table sends. It begins to write each frame at once, unless it is stalled.
type socket struct {
	mu      sync.Mutex
	frames  []string
	stalled bool
	closed  bool
}

func (s *socket) Send(data []byte, note conn.Note) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return conn.ErrClosed
	}
	s.frames = append(s.frames, string(data))
	if note != nil && !s.stalled {
		note.Writing()
	}
	return nil
}

// Cancel is the codec's: that of JSON-RPC.
func (*socket) Cancel(id ids.CallID, reason string) []byte {
	return jsonrpc.Cancelled(string(id), reason)
}

func newTable(s *socket, places int) *calls.Table { return calls.New(s, s, places) }

func (s *socket) sent() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.frames, " ")
}

// sink records what its caller hears.
type sink struct {
	mu     sync.Mutex
	heard  []calls.Status
	params []string
	ends   int
	answer string
	err    *errs.Error
}

func (s *sink) Status(st calls.Status) { s.mu.Lock(); s.heard = append(s.heard, st); s.mu.Unlock() }
func (s *sink) Progress(p []byte)      { s.mu.Lock(); s.params = append(s.params, string(p)); s.mu.Unlock() }
func (s *sink) Done(b *frame.Buffer, err *errs.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ends++
	s.err = err
	if b != nil {
		s.answer = string(b.Bytes())
		b.Release()
	}
}

func (s *sink) state() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ends > 1:
		return fmt.Sprintf("ended %d times", s.ends)
	case s.ends == 0:
		return "open"
	case s.err != nil:
		return string(s.err.Reason)
	}
	return s.answer
}

func start(t *calls.Table, id string) *sink {
	s := &sink{}
	t.Start(calls.Call{ID: ids.CallID(id), Deadline: time.Now().Add(time.Minute), Frame: []byte(id)}, s)
	return s
}

func answer(t *calls.Table, id string) bool {
	return t.Answer(ids.CallID(id), frame.Wrap([]byte("answer of "+id)))
}

func want(t *testing.T, s *sink, state string) {
	t.Helper()
	if got := s.state(); got != state {
		t.Errorf("the caller heard %q, want %q", got, state)
	}
}

func TestCallsWaitInOrderForPlaces(t *testing.T) {
	t.Parallel()
	sock := &socket{}
	table := newTable(sock, 2)
	a, b, c, d := start(table, "a"), start(table, "b"), start(table, "c"), start(table, "d")
	if sock.sent() != "a b" || table.Open() != 4 {
		t.Fatalf("sent %q, %d open", sock.sent(), table.Open())
	}
	if len(c.heard) != 1 || c.heard[0] != calls.Queued {
		t.Fatalf("c heard %v", c.heard)
	}
	answer(table, "b")
	want(t, b, "answer of b")
	if sock.sent() != "a b c" || len(c.heard) != 2 || c.heard[1] != calls.Sent {
		t.Fatalf("sent %q, c heard %v", sock.sent(), c.heard)
	}
	answer(table, "a")
	answer(table, "d")
	answer(table, "c")
	want(t, a, "answer of a")
	want(t, c, "answer of c")
	want(t, d, "answer of d")
	if table.Open() != 0 {
		t.Errorf("%d open", table.Open())
	}
}

func TestTheSixtyFifthWaitingCallIsRefused(t *testing.T) {
	t.Parallel()
	table := newTable(&socket{}, 1)
	for i := range 1 + calls.MaxWaiting {
		want(t, start(table, fmt.Sprint(i)), "open")
	}
	want(t, start(table, "one too many"), "NODE_BUSY")
}

func TestTheSameCallIsNotSentTwice(t *testing.T) {
	t.Parallel()
	sock := &socket{}
	table := newTable(sock, 1)
	start(table, "a")
	start(table, "b")
	want(t, start(table, "a"), "NODE_BUSY")
	want(t, start(table, "b"), "NODE_BUSY")
	if sock.sent() != "a" {
		t.Error(sock.sent())
	}
}

func TestAnswersNobodyWaitsForAreCountedOut(t *testing.T) {
	t.Parallel()
	table := newTable(&socket{}, 1)
	a := start(table, "a")
	if answer(table, "b") || !answer(table, "a") || answer(table, "a") {
		t.Error("an answer found the wrong call")
	}
	want(t, a, "answer of a")
}

func TestMorePlacesLetWaitingCallsGo(t *testing.T) {
	t.Parallel()
	sock := &socket{}
	table := newTable(sock, 1)
	start(table, "a")
	start(table, "b")
	start(table, "c")
	table.SetPlaces(3)
	if sock.sent() != "a b c" {
		t.Error(sock.sent())
	}
}

func TestCancelTellsTheNodeAndFreesThePlaceAfterItsAnswer(t *testing.T) {
	t.Parallel()
	sock := &socket{}
	table := newTable(sock, 1)
	a, b := start(table, "a"), start(table, "b")
	if !table.Cancel("a", "deadline exceeded") || table.Cancel("a", "again") {
		t.Error("cancelled the wrong number of times")
	}
	if got := sock.sent(); got != `a {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a","reason":"deadline exceeded"}}` {
		t.Error(got)
	}
	if table.Open() != 1 {
		t.Errorf("%d open", table.Open())
	}
	if answer(table, "a") {
		t.Error("an abandoned call was answered")
	}
	want(t, a, "open") // its caller left by itself
	if !strings.HasSuffix(sock.sent(), " b") {
		t.Error("the place was not passed on")
	}
	answer(table, "b")
	want(t, b, "answer of b")
}

func TestAnAbandonedCallKeepsItsPlaceForFiveSeconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sock := &socket{}
		table := newTable(sock, 1)
		start(table, "a")
		start(table, "b")
		table.Cancel("a", "x")
		testkit.Advance(calls.CancelGrace - time.Millisecond)
		if strings.HasSuffix(sock.sent(), " b") {
			t.Fatal("the place was free too early")
		}
		testkit.Advance(2 * time.Millisecond)
		synctest.Wait()
		if !strings.HasSuffix(sock.sent(), " b") {
			t.Fatal("the place was not passed on")
		}
	})
}

func TestCancelOfAWaitingCallSaysThatItWasNeverSent(t *testing.T) {
	t.Parallel()
	sock := &socket{}
	table := newTable(sock, 1)
	start(table, "a")
	b := start(table, "b")
	table.Cancel("b", "deadline exceeded")
	want(t, b, "NODE_BUSY")
	answer(table, "a")
	if sock.sent() != "a" {
		t.Error(sock.sent())
	}
}

func TestACallThatWaitedPastItsDeadlineIsNotSent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sock := &socket{}
		table := newTable(sock, 1)
		start(table, "a")
		b := start(table, "b")
		testkit.Advance(61 * time.Second)
		answer(table, "a")
		want(t, b, "NODE_BUSY")
		if sock.sent() != "a" {
			t.Error(sock.sent())
		}
	})
}

func TestCloseSeparatesSentFromUnsent(t *testing.T) {
	t.Parallel()
	sock := &socket{}
	table := newTable(sock, 2)
	a := start(table, "a")
	sock.stalled = true
	b := start(table, "b") // queued at the socket, not begun
	c := start(table, "c") // waits for a place
	table.Close("the node's connection ended")
	want(t, a, "NODE_DISCONNECTED")
	want(t, b, "NODE_NOT_CONNECTED")
	want(t, c, "NODE_NOT_CONNECTED")
	want(t, start(table, "d"), "NODE_NOT_CONNECTED")
	if a.err.Class() != errs.Unknown || !errors.Is(b.err, errs.NodeNotConnected) {
		t.Error("wrong class")
	}
	table.Close("twice does no harm")
}

func TestASocketThatClosesRefusesTheCall(t *testing.T) {
	t.Parallel()
	table := newTable(&socket{closed: true}, 1)
	want(t, start(table, "a"), "NODE_NOT_CONNECTED")
	want(t, start(table, "b"), "NODE_NOT_CONNECTED") // a's place is free again
}

func TestSweepSpeaksUpForOpenCallsAndDropsThoseWithoutCaller(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sock := &socket{}
		table := newTable(sock, 1)
		a, b := start(table, "a"), start(table, "b")
		sweep := func() { table.Sweep(time.Now(), 2*time.Second, 2*time.Second) }
		testkit.Advance(time.Second)
		sweep()
		if len(a.heard) != 0 {
			t.Errorf("a heard %v after one second", a.heard)
		}
		testkit.Advance(time.Second)
		sweep()
		sweep()
		if len(a.heard) != 1 || a.heard[0] != calls.Working || len(b.heard) != 2 || b.heard[1] != calls.Working {
			t.Errorf("a heard %v, b heard %v", a.heard, b.heard)
		}
		testkit.Advance(61 * time.Second)
		sweep()
		want(t, b, "NODE_BUSY")
		if table.Open() != 0 || !strings.Contains(sock.sent(), "notifications/cancelled") {
			t.Errorf("%d open, sent %q", table.Open(), sock.sent())
		}
		testkit.Advance(calls.CancelGrace) // lets the timer of a's place end
	})
}

func TestProgressReachesItsCall(t *testing.T) {
	t.Parallel()
	table := newTable(&socket{}, 1)
	a := start(table, "a")
	if !table.Progress("a", []byte(`{"progress":1}`)) || table.Progress("b", nil) {
		t.Error("progress found the wrong call")
	}
	if len(a.params) != 1 || a.params[0] != `{"progress":1}` {
		t.Error(a.params)
	}
}

func TestWorkflowsTakeNoPlaceAndAreCompletedInOrder(t *testing.T) {
	t.Parallel()
	sock := &socket{}
	table := newTable(sock, 1)
	start(table, "tool")
	flow := func(id, workflow string) *sink {
		s := &sink{}
		table.Start(calls.Call{ID: ids.CallID(id), Kind: codec.Relayed, Name: workflow, Deadline: time.Now().Add(time.Minute), Frame: []byte(id)}, s)
		return s
	}
	one, two, three := flow("1", "x"), flow("2", "y"), flow("3", "z")
	if sock.sent() != "tool 1 2 3" || len(one.heard) != 1 || one.heard[0] != calls.Sent {
		t.Fatalf("sent %q, heard %v", sock.sent(), one.heard)
	}
	complete := func(id string) bool { return table.Complete(id, frame.Wrap([]byte("done"))) }
	if !complete("y") || !complete("") {
		t.Error("not completed")
	}
	want(t, two, "done")
	want(t, one, "done")
	want(t, three, "open")
	if complete("unknown") {
		t.Error("a completion that names another workflow found one")
	}
	table.Close("gone")
	want(t, three, "NODE_DISCONNECTED")
}

func TestDrainRefusesNewCallsAndWaitsForOpenOnes(t *testing.T) {
	t.Parallel()
	table := newTable(&socket{}, 1)
	a, b := start(table, "a"), start(table, "b")
	idle := table.Drain()
	want(t, start(table, "c"), "DRAINING")
	answer(table, "a")
	select {
	case <-idle:
		t.Fatal("idle with a call open")
	default:
	}
	answer(table, "b")
	<-idle
	want(t, a, "answer of a")
	want(t, b, "answer of b")
	want(t, start(table, "d"), "DRAINING")
	<-newTable(&socket{}, 1).Drain()
}

// TestEveryCallEndsOnce runs everything against everything.
func TestEveryCallEndsOnce(t *testing.T) {
	t.Parallel()
	table := newTable(&socket{}, 3)
	var all []*sink
	var mu sync.Mutex
	var work sync.WaitGroup
	for g := range 8 {
		work.Go(func() {
			for i := range 300 {
				id := fmt.Sprintf("%d-%d", g, i)
				s := start(table, id)
				mu.Lock()
				all = append(all, s)
				mu.Unlock()
				switch i % 3 {
				case 0:
					table.Cancel(ids.CallID(id), "x")
				case 1:
					table.Sweep(time.Now(), 0, time.Second)
				}
				answer(table, id)
			}
		})
	}
	work.Wait()
	table.Close("gone")
	for _, s := range all {
		if s.ends > 1 {
			t.Fatalf("a call ended %d times", s.ends)
		}
	}
	if table.Open() != 0 {
		t.Errorf("%d open", table.Open())
	}
}
