package outcomes_test

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// one connects a node with a single place, and a call that takes it.
func one(t *testing.T, c *cluster.Cluster) (n *cluster.Client, running cluster.ToolCall, end <-chan cluster.Ended) {
	t.Helper()
	n = node(t, c.Gateways[0], "u", "n")
	n.Register(`"max_concurrent_tasks":1`)
	end = begin(t.Context(), unary(), c.Gateways[1], numbered(call("u", "n", time.Minute), 0))
	return n, n.Call(), end
}

func marker(c cluster.ToolCall) string {
	return strings.TrimSuffix(string(c.Params.Arguments)[5:], "}")
}

func TestSixtyFourCallsWaitInOrderAndTheNextIsRefused(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	n, running, first := one(t, c)
	ends := []<-chan cluster.Ended{first}
	for i := 1; i <= 64; i++ { // through both pods in turn
		ends = append(ends, begin(t.Context(), cluster.Ways[i%4], c.Gateways[i%2], numbered(call("u", "n", time.Minute), i)))
		open(t, c.Gateways[0], i+1)
	}
	everyWay(t, c.Gateways, call("u", "n", time.Minute), func(way string, got cluster.Ended) {
		expect(t, way, got, "NODE_BUSY")
		if got.Took > roundTrip {
			t.Errorf("%s: took %v", way, got.Took)
		}
	})
	n.Silent()
	n.Answer(running, cluster.Text("0"))
	for i := 1; i <= 64; i++ {
		next := n.Call()
		if marker(next) != strconv.Itoa(i) {
			t.Fatalf("call %s came where %d was due", marker(next), i)
		}
		n.Answer(next, cluster.Text(marker(next)))
	}
	for i, end := range ends {
		if got := ended(t, end); !strings.Contains(got.JSON, `"text":"`+strconv.Itoa(i)+`"`) {
			t.Errorf("call %d: %v", i, got)
		}
	}
}

// A call that was never sent is known not to have been delivered, whichever pod it came through.
func TestACallThatWaitsPastItsDeadlineIsBusyAndNotATimeout(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Gateways: 3})
	n, running, first := one(t, c)
	ends := map[string]<-chan cluster.Ended{}
	for i, g := range c.Gateways {
		for _, w := range cluster.Ways[:3] { // REST has no timeout
			ends[w.Name+" through gateway "+strconv.Itoa(i)] = begin(t.Context(), w, g, call("u", "n", short))
		}
	}
	for way, end := range ends {
		got := ended(t, end)
		expect(t, way, got, "NODE_BUSY")
		if got.Took < short-10*time.Millisecond || got.Took > short+roundTrip {
			t.Errorf("%s: took %v", way, got.Took)
		}
	}
	open(t, c.Gateways[0], 1)
	n.Answer(running, cluster.Text("done"))
	answered(t, "the call that ran", ended(t, first))
	n.Silent() // nothing that waited was sent
}

func TestAWaitingCallGivenUpIsNeverSent(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	n, running, _ := one(t, c)
	for i, w := range cluster.Ways {
		ctx, giveUp := context.WithCancel(t.Context())
		end := begin(ctx, w, c.Gateways[i%2], call("u", "n", time.Minute))
		open(t, c.Gateways[0], 2)
		giveUp()
		ended(t, end)
		open(t, c.Gateways[0], 1)
	}
	n.Answer(running, cluster.Text("done"))
	open(t, c.Gateways[0], 0)
	n.Silent()
}

// Either end of a call that was given up frees its place: the node's answer at once, else 5 s.
func TestThePlaceOfACallGivenUpIsFreeOnceTheNodeAnswers(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	for i, g := range c.Gateways {
		user := "u" + strconv.Itoa(i)
		n := node(t, c.Gateways[0], user, "n")
		n.Register(`"max_concurrent_tasks":1`)
		ctx, giveUp := context.WithCancel(t.Context())
		end := begin(ctx, unary(), g, call(user, "n", time.Minute))
		running := n.Call()
		next := begin(t.Context(), unary(), g, call(user, "n", time.Minute))
		open(t, c.Gateways[0], 2)
		giveUp()
		ended(t, end)
		if notice := n.Call(); notice.Method != "notifications/cancelled" || notice.Params.RequestID != running.ID {
			t.Fatalf("the node got %s", notice.Frame)
		}
		n.Silent() // the place is still taken
		n.Answer(running, cluster.Text("too late"))
		n.Answer(n.Call(), cluster.Text("next"))
		answered(t, "the next call", ended(t, next))
	}
}

func TestThePlaceOfACallGivenUpIsFreeAfterFiveSeconds(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	n, running, _ := one(t, c)
	got := unary().Call(t.Context(), c.Gateways[1], call("u", "n", short))
	expect(t, "a call that waits", got, "NODE_BUSY")
	n.Answer(running, cluster.Text("done"))

	// A timeout gives a call up as its caller does.
	expect(t, "a call without an answer", unary().Call(t.Context(), c.Gateways[1], call("u", "n", short)), "TOOL_TIMEOUT")
	given := time.Now()
	lost := n.Call()
	if notice := n.Call(); notice.Params.RequestID != lost.ID {
		t.Fatalf("the node got %s", notice.Frame)
	}
	next := begin(t.Context(), unary(), c.Gateways[1], call("u", "n", time.Minute))
	n.Answer(n.Call(), cluster.Text("next"))
	if after := time.Since(given); after < 4500*time.Millisecond || after > 7*time.Second {
		t.Errorf("the place was free after %v, want 5 s", after)
	}
	answered(t, "the next call", ended(t, next))
}

func TestMorePlacesLetWaitingCallsRun(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	n, _, _ := one(t, c)
	for i := range 3 {
		begin(t.Context(), unary(), c.Gateways[1], numbered(call("u", "n", time.Minute), i+1))
		open(t, c.Gateways[0], i+2)
	}
	n.Send(`{"type":"register","max_concurrent_tasks":3}`)
	var came []string // the answer to the registration may come before or after
	for range 3 {
		if f := n.Next(); strings.Contains(f, `"tools/call"`) {
			came = append(came, f)
		}
	}
	if len(came) != 2 || !strings.Contains(came[0], `{"n":1}`) || !strings.Contains(came[1], `{"n":2}`) {
		t.Errorf("the node got %q", came)
	}
	n.Silent()
	testkit.Eventually(t, 5*time.Second, func() bool { return c.Gateways[0].OpenCalls(t) == 4 }, "all are open")
}
