package node

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
)

// gate is a tool that says when it has begun and ends when it is told to.
type gate struct {
	begun   chan string
	release chan struct{}
	now     atomic.Int32
	most    atomic.Int32
}

func newGate() *gate { return &gate{begun: make(chan string, 256), release: make(chan struct{})} }

func (g *gate) handle(ctx context.Context, c Call) (Result, error) {
	g.most.Store(max(g.most.Load(), g.now.Add(1)))
	defer g.now.Add(-1)
	g.begun <- c.ID
	select {
	case <-g.release:
		return Text("released"), nil
	case <-ctx.Done():
		return Result{}, context.Cause(ctx)
	}
}

func TestAtMostMaxConcurrentTasksRunAndTheRestWaitUpTo64(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	tool := newGate()
	o := options(g)
	o.MaxConcurrentTasks = 2
	start(t, o, quick(), map[string]Handler{"gate": tool.handle})
	p := g.register()
	for i := range 2 + maxWaiting {
		p.write(callText(strconv.Itoa(i), "gate"))
	}
	receive(t, tool.begun)
	receive(t, tool.begun)
	p.write(callText("over", "gate"))
	p.expect(`{"jsonrpc":"2.0","id":"over","error":{"code":-32000,"message":"the node is busy; try again later"}}`)
	close(tool.release)
	answered := map[string]bool{}
	for range 2 + maxWaiting {
		frame := p.read()
		if !strings.HasSuffix(frame, `"result":{"content":[{"type":"text","text":"released"}],"isError":false}}`) || answered[frame] {
			t.Fatal(frame)
		}
		answered[frame] = true
	}
	if tool.most.Load() > 2 {
		t.Fatalf("%d ran at once", tool.most.Load())
	}
	p.quiet()
}

func TestCancelledWhileWaitingNeverRuns(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	tool := newGate()
	o := options(g)
	o.MaxConcurrentTasks = 1
	start(t, o, quick(), map[string]Handler{"gate": tool.handle})
	p := g.register()
	p.write(callText("first", "gate"))
	receive(t, tool.begun)
	p.write(callText("second", "gate"))
	p.write(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"second","reason":"late"}}`)
	p.expect(`{"jsonrpc":"2.0","id":"second","error":{"code":-32603,"message":"Tool execution failed: the call ended before it started: cancelled by the caller: late"}}`)
	close(tool.release)
	p.expect(answerText("first", "released"))
	p.quiet()
	if len(tool.begun) != 0 {
		t.Fatal("the cancelled call ran")
	}
}

func TestCancelReachesOnlyItsCall(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	tool := newGate()
	start(t, options(g), quick(), map[string]Handler{"gate": tool.handle})
	p := g.register()
	p.write(callText("a", "gate"))
	p.write(callText("b", "gate"))
	receive(t, tool.begun)
	receive(t, tool.begun)
	p.write(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a"}}`)
	p.expect(`{"jsonrpc":"2.0","id":"a","error":{"code":-32603,"message":"Tool execution failed: cancelled by the caller"}}`)
	close(tool.release)
	p.expect(answerText("b", "released"))
}

// logLines collects log records as text.
type logLines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logLines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(b)
}

func (l *logLines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func TestAnswerOfALostConnectionIsDroppedAndSaidSo(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	tool := newGate()
	var log logLines
	o := options(g)
	o.Logger = slog.New(slog.NewTextHandler(&log, nil))
	n := start(t, o, quick(), map[string]Handler{"gate": tool.handle})
	p := g.register()
	p.write(callText("lost", "gate"))
	receive(t, tool.begun)
	p.hangUp()

	p = g.register()
	// The handler outlives its connection, and the same call is not begun again on the next one.
	p.write(callText("lost", "gate"))
	p.quiet()
	close(tool.release)
	p.write(callText("next", "gate"))
	p.expect(answerText("next", "released"))
	p.quiet()
	p.hangUp()
	n.stop()
	if err := n.wait(); err != nil {
		t.Fatal(err)
	}
	if len(tool.begun) != 1 || receive(t, tool.begun) != "next" {
		t.Fatal("the call ran twice")
	}
	if !strings.Contains(log.String(), `msg="answer dropped, it could not be sent" tool=gate call=lost`) {
		t.Fatalf("the log is silent about it:\n%s", log.String())
	}
}

func TestStopAnswersWhatRunsAndRefusesWhatComes(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	begun, ending, release := make(chan struct{}), make(chan struct{}), make(chan struct{})
	n := start(t, options(g), quick(), map[string]Handler{"slow": func(ctx context.Context, _ Call) (Result, error) {
		close(begun)
		<-ctx.Done()
		close(ending)
		<-release
		return Text("tidied up"), nil
	}})
	p := g.register()
	p.write(callText("a", "slow"))
	receive(t, begun)
	n.stop()
	receive(t, ending)
	p.write(`{"type":"ping"}`) // the connection is still read, though no longer kept alive
	p.write(callText("b", "slow"))
	// Either the session knows already that it is leaving, or the call meets an ended context: it is never begun.
	if frame := p.read(); !strings.HasPrefix(frame, `{"jsonrpc":"2.0","id":"b","error":`) || !strings.Contains(frame, "the node is stopping") {
		t.Fatal(frame)
	}
	close(release)
	p.expect(answerText("a", "tidied up"))
	if _, err := p.tryRead(); websocket.CloseStatus(err) != websocket.StatusNormalClosure {
		t.Fatal(err)
	}
	if err := n.wait(); err != nil {
		t.Fatal(err)
	}
}

func TestStopIsNotHeldUpByAGatewayThatDoesNotRead(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	hurried := quick()
	hurried.leave = 1 // a nanosecond
	began := make(chan struct{})
	n := start(t, options(g), hurried, map[string]Handler{"big": func(context.Context, Call) (Result, error) {
		close(began)
		return Text(strings.Repeat("x", 9<<20)), nil
	}})
	p := g.register()
	p.write(callText("a", "big"))
	receive(t, began)
	n.stop()
	if err := n.wait(); err != nil {
		t.Fatal(err)
	}
}

func TestAnswerOfExactlyTheFrameLimitPassesAndALongerOneSaysSo(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	fits := MaxFrameBytes - len(answerText("a", ""))
	start(t, options(g), quick(), map[string]Handler{
		"fits": func(context.Context, Call) (Result, error) { return Text(strings.Repeat("x", fits)), nil },
		"over": func(context.Context, Call) (Result, error) { return Text(strings.Repeat("x", fits+1)), nil },
		"loud": func(context.Context, Call) (Result, error) {
			return Result{}, errors.New(strings.Repeat("x", MaxFrameBytes))
		},
	})
	p := g.register()
	p.write(callText("a", "fits"))
	if frame := p.read(); len(frame) != MaxFrameBytes || frame != answerText("a", strings.Repeat("x", fits)) {
		t.Fatalf("%d bytes", len(frame))
	}
	p.write(callText("b", "over"))
	p.expect(fmt.Sprintf(`{"jsonrpc":"2.0","id":"b","error":{"code":-32603,"message":"Tool execution failed: the answer has %d bytes, a frame holds at most %d"}}`, MaxFrameBytes+1, MaxFrameBytes))
	p.write(callText("c", "loud"))
	if frame := p.read(); !strings.Contains(frame, "a frame holds at most") {
		t.Fatalf("%d bytes", len(frame))
	}
	p.quiet()
}

func TestInboundFrameOfExactlyTheLimitPassesAndBinaryIsSurvived(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	start(t, options(g), quick(), map[string]Handler{"length": func(_ context.Context, c Call) (Result, error) {
		return Text(strconv.Itoa(len(c.Arguments))), nil
	}})
	p := g.register()
	empty := `{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"length","arguments":{"x":""}}}`
	fill := MaxFrameBytes - len(empty)
	p.write(strings.Replace(empty, `""`, `"`+strings.Repeat("y", fill)+`"`, 1))
	p.expect(answerText("a", strconv.Itoa(fill+len(`{"x":""}`))))
	p.writeKind(websocket.MessageBinary, callText("b", "length"))
	p.quiet()
}

func TestHandlersMayRunForLongerThanAnyOtherTakes(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	tool := newGate()
	start(t, options(g), quick(), map[string]Handler{
		"gate":  tool.handle,
		"quick": func(context.Context, Call) (Result, error) { return Text("done"), nil },
	})
	p := g.register()
	p.write(callText("slow", "gate"))
	receive(t, tool.begun)
	for i := range 200 {
		id := strconv.Itoa(i)
		p.write(callText(id, "quick"))
		p.expect(answerText(id, "done"))
	}
	close(tool.release)
	p.expect(answerText("slow", "released"))
}

func TestRunWaitsForHandlersAlsoWhereItEndsWithAnError(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	begun := make(chan struct{})
	var tidied atomic.Bool
	n := start(t, options(g), quick(), map[string]Handler{"slow": func(ctx context.Context, _ Call) (Result, error) {
		close(begun)
		<-ctx.Done()
		testkit.Pass(20 * time.Millisecond) // what it does to tidy up takes a moment
		tidied.Store(true)
		return Result{}, nil
	}})
	p := g.register()
	p.write(callText("a", "slow"))
	receive(t, begun)
	p.close(4409, "superseded")
	if err := n.wait(); !errors.Is(err, ErrSuperseded) || !tidied.Load() {
		t.Fatalf("%v, tidied %t", err, tidied.Load())
	}
}

func TestProgressAfterTheAnswerIsNotSent(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	kept := make(chan Call, 1)
	start(t, options(g), quick(), map[string]Handler{"keep": func(_ context.Context, c Call) (Result, error) {
		kept <- c
		return Text("done"), nil
	}})
	p := g.register()
	p.write(`{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"keep","arguments":{},"_meta":{"progressToken":1}}}`)
	p.expect(answerText("a", "done"))
	receive(t, kept).Progress(1, 1, "late")
	p.quiet()
}

func TestAdmission(t *testing.T) {
	t.Parallel()
	c := newCalls(1, time.Hour)
	ctx, call, err := c.begin(t.Context(), nil, "a")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.begin(t.Context(), nil, "a"); !errors.Is(err, errRunning) {
		t.Error(err)
	}
	c.executed(call) // its answer is on its way, or arrived already
	if _, _, err := c.begin(t.Context(), nil, "a"); !errors.Is(err, errExecuted) {
		t.Error(err)
	}
	if !c.cancelCall("a", errBusy) || c.cancelCall("b", errBusy) {
		t.Error("cancelCall does not know which calls there are")
	}
	for range 100 { // select would choose the free slot half of the times
		if err := c.acquire(ctx); !errors.Is(err, errUnstarted) || c.running() != 0 {
			t.Fatalf("%v, %d run", err, c.running())
		}
	}
	c.end(call)
	c.drain()
	if _, _, err := c.begin(t.Context(), nil, "b"); !errors.Is(err, errStopping) {
		t.Error(err)
	}
}

func TestRefusalSaysMoreThanTheCloseAfterIt(t *testing.T) {
	t.Parallel()
	s := newSession(nil, nil, "")
	s.registered <- registeredFrame{Error: "wrong type"}
	var refused *RegisterError
	if err := s.registerVerdict(&ClosedError{Code: 4003}); !errors.As(err, &refused) || refused.Reason != "wrong type" {
		t.Error(err)
	}
	s.registered <- registeredFrame{Success: true}
	if err := s.registerVerdict(&ClosedError{Code: 4003}); !errors.Is(err, ErrNotAllowed) {
		t.Error(err)
	}
}

func TestRecentIDsForgetTheOldest(t *testing.T) {
	t.Parallel()
	r := newRecentIDs(3)
	for _, id := range []callID{"a", "b", "c", "d"} {
		r.add(id)
	}
	if r.has("a") || !r.has("b") || !r.has("c") || !r.has("d") || len(r.set) != 3 {
		t.Fatalf("%+v", r)
	}
}
