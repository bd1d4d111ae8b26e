package cluster

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"

	"github.com/hecaton-dev/hecaton/pkg/process/sleep"
)

// Ledger records numbered calls on both ends: what callers sent and received, and what nodes received. Callers try again
// only calls that were not delivered.
type Ledger struct {
	User, Node string
	// UserOf and NodeOf, if not nil, choose the user and the node of call n instead.
	UserOf, NodeOf func(n int) string
	// Timeout of each attempt over gRPC; 20 s where zero.
	Timeout time.Duration

	mu       sync.Mutex
	ids      map[string]int // how often a node saw a call id
	executed map[int]int    // how often a node saw a number
	ended    map[int]Ended
	retries  map[string]int // by reason
	lost     int            // attempts that the bus lost
}

// Number returns the number of a ledger's call.
func Number(c ToolCall) int {
	var n int
	_, _ = fmt.Sscanf(string(c.Params.Arguments), `{"n":%d}`, &n) // 0 where there is none
	return n
}

// See is the node's end: it answers with the number.
func (l *Ledger) See(c ToolCall) string {
	n := Number(c)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ids == nil {
		l.ids, l.executed = map[string]int{}, map[int]int{}
	}
	l.ids[c.ID]++
	l.executed[n]++
	return Text(fmt.Sprint(n))
}

// Entry chooses the way of an attempt to make call n.
type Entry func(n, attempt int) (Way, *Gateway)

// run makes a call, again and again while it is not delivered.
func (l *Ledger) run(ctx context.Context, n int, enter Entry) {
	timeout := l.Timeout
	if timeout == 0 {
		timeout = 20 * time.Second
	}
	call := &toolv1.Call{UserId: l.User, NodeId: l.Node, ToolName: "click", Timeout: durationpb.New(timeout)}
	if l.UserOf != nil {
		call.UserId = l.UserOf(n)
	}
	if l.NodeOf != nil {
		call.NodeId = l.NodeOf(n)
	}
	call.ArgumentsJson = fmt.Appendf(nil, `{"n":%d}`, n)
	var got Ended
	for attempt := 0; ctx.Err() == nil; attempt++ {
		w, g := enter(n, attempt)
		if got = w.Call(ctx, g, call); got.Outcome != "not_delivered" {
			break
		}
		l.mu.Lock()
		if l.retries == nil {
			l.retries = map[string]int{}
		}
		l.retries[got.Reason]++
		if strings.Contains(got.Message, "lost on its way") {
			l.lost++
		}
		l.mu.Unlock()
		sleep.For(ctx, rand.N(10*time.Millisecond))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended == nil {
		l.ended = map[int]Ended{}
	}
	l.ended[n] = got
}

// Load runs callers, each one call after the other, until stop, which waits for the calls in flight.
func (l *Ledger) Load(ctx context.Context, callers int, enter Entry) (stop func()) {
	var next atomic.Int64
	var work sync.WaitGroup
	quit := make(chan struct{})
	for range callers {
		work.Go(func() {
			for {
				select {
				case <-quit:
					return
				default:
					l.run(ctx, int(next.Add(1)), enter)
				}
			}
		})
	}
	return func() {
		close(quit)
		work.Wait()
	}
}

// Retries returns how many attempts were not delivered, by reason.
func (l *Ledger) Retries(reason string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.retries[reason]
}

// Lost returns how many attempts the bus lost on their way to the node, as their callers were told.
func (l *Ledger) Lost() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lost
}

// Answered returns how many calls were answered so far.
func (l *Ledger) Answered() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, e := range l.ended {
		if e.Reason == "" && e.Err == nil {
			n++
		}
	}
	return n
}

// Check compares both ends: no call was seen twice, and none was answered unseen. It returns how many calls ended with
// which reason, "" for an answer, and fails for reasons that are not expected.
func (l *Ledger) Check(t testing.TB, expected ...string) map[string]int {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, times := range l.ids {
		if times != 1 {
			t.Errorf("a node saw the call %s %d times", id, times)
		}
	}
	reasons := map[string]int{}
	for n, e := range l.ended {
		reasons[e.Reason]++
		seen := l.executed[n]
		switch {
		case e.Err != nil:
			t.Errorf("call %d: %v", n, e)
		case seen > 1:
			t.Errorf("call %d was executed %d times: %v", n, seen, e)
		case e.Reason == "" && (seen != 1 || !strings.Contains(e.JSON, fmt.Sprintf(`"text":"%d"`, n))):
			t.Errorf("call %d was executed %d times and answered with %v", n, seen, e)
		case e.Reason != "" && !strings.Contains(" "+strings.Join(expected, " ")+" ", " "+e.Reason+" "):
			t.Errorf("call %d: %v", n, e)
		}
	}
	t.Logf("%d calls ended: %v; tried again after %v", len(l.ended), reasons, l.retries)
	return reasons
}

// Seen returns how often the node saw call n.
func (l *Ledger) Seen(n int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.executed[n]
}

// Once fails unless the node saw exactly the calls with these numbers, each once.
func (l *Ledger) Once(t testing.TB, numbers ...int) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	want := map[int]int{}
	for _, n := range numbers {
		want[n] = 1
	}
	if !maps.Equal(l.executed, want) {
		t.Errorf("the node saw calls %v, want %v once", l.executed, numbers)
	}
	for id, times := range l.ids {
		if times != 1 {
			t.Errorf("the node saw the call %s %d times", id, times)
		}
	}
}
