package faults_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// Every call ends, and none runs twice: calls during the outage are not delivered; those that were on the bus when it
// stopped are lost at worst, and their callers learn it within seconds of its return.
func TestNATSRestartedUnderLoadLosesNothingSilently(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Gateways: 3})
	l := &cluster.Ledger{User: "load", NodeOf: func(n int) string { return fmt.Sprint("n", n%3) }}
	var nodes []*cluster.Client
	for i, g := range c.Gateways {
		n := g.Extension(t, "load", fmt.Sprint("n", i))
		n.Silent()
		n.Serve(func(call cluster.ToolCall) string {
			testkit.Pass(2 * time.Millisecond) // so that calls are in flight
			return l.See(call)
		})
		nodes = append(nodes, n)
	}
	stop := l.Load(t.Context(), 16, func(n, attempt int) (cluster.Way, *cluster.Gateway) {
		return cluster.Ways[n%4], c.Gateways[(n/4+attempt)%3]
	})
	answered := func(more int) {
		t.Helper()
		before := l.Answered()
		soon(t, func() bool { return l.Answered() > before+more }, "calls are answered")
	}
	answered(50)
	for _, away := range []time.Duration{0, 2 * time.Second, 300 * time.Millisecond} {
		c.NATS.Stop()
		testkit.Pass(away)
		c.NATS.Start()
		for i, g := range c.Gateways {
			soon(t, func() bool { return g.Ready(t) }, fmt.Sprint("gateway ", i, " is ready again"))
		}
		answered(50)
	}
	stop()
	reasons := l.Check(t, "HOLDER_LOST")
	if l.Retries("BUS_UNAVAILABLE") == 0 {
		t.Error("no call noticed that the bus was away")
	}
	if n := l.Retries("NODE_NOT_CONNECTED"); n != 0 {
		t.Errorf("%d calls heard that a node is not connected, which was all the time", n)
	}
	if lost := reasons["HOLDER_LOST"]; lost > reasons[""]/5 {
		t.Errorf("%d of the calls were lost", lost)
	}
	for i, n := range nodes {
		if !n.Open() {
			t.Errorf("the socket of node %d was closed with %d", i, n.Ended())
		}
	}
	for _, id := range []string{"n0", "n1", "n2"} {
		for i, g := range c.Gateways {
			if got := cluster.Unary(t.Context(), g, call("load", id)); got.Reason != "" || got.Err != nil {
				t.Errorf("%s through gateway %d: %v", id, i, got)
			}
		}
	}
}

func TestAnAnswerThatCameWhileTheBusWasAwayIsDeliveredAfterwards(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	n := c.Gateways[0].Extension(t, "u", "n")
	n.Silent()
	n.Register(`"max_concurrent_tasks":20`)
	type waiting struct {
		way, text string
		call      cluster.ToolCall
		end       chan cluster.Ended
	}
	var calls []waiting
	for _, text := range []string{"done", strings.Repeat("x", 3<<20)} { // one of them in parts
		for _, w := range cluster.Ways {
			end := make(chan cluster.Ended, 1)
			go func() { end <- w.Call(t.Context(), c.Gateways[1], call("u", "n")) }()
			calls = append(calls, waiting{w.Name, text, n.Call(), end})
		}
	}
	c.NATS.Stop()
	soon(t, func() bool { return !c.Gateways[0].Ready(t) && !c.Gateways[1].Ready(t) }, "the bus is away")
	for _, w := range calls {
		n.Answer(w.call, cluster.Text(w.text))
	}
	n.Silent() // so all were read
	c.NATS.Start()
	for _, w := range calls {
		select {
		case got := <-w.end:
			if !strings.Contains(got.JSON, w.text) {
				t.Errorf("%s, %d bytes: %v", w.way, len(w.text), got)
			}
		case <-time.After(20 * time.Second):
			t.Errorf("%s, %d bytes: no answer within seconds", w.way, len(w.text))
		}
	}
}

// The bus is away for longer than a router takes silence for.
func TestACallOutlivesAnOutageOfTheBus(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	n := c.Gateways[0].Extension(t, "u", "n")
	n.Silent()
	end := make(chan cluster.Ended, 1)
	long := call("u", "n")
	long.Timeout = durationpb.New(outage(t) + time.Minute)
	go func() { end <- cluster.Unary(t.Context(), c.Gateways[1], long) }()
	running := n.Call()
	c.NATS.Stop()
	testkit.Pass(outage(t))
	c.NATS.Start()
	soon(t, func() bool { return c.Gateways[0].Ready(t) && c.Gateways[1].Ready(t) }, "the bus is back")
	testkit.Pass(3 * time.Second) // in which the holder says once more that the call goes on
	select {
	case got := <-end:
		t.Fatalf("the call ended: %v", got)
	default:
	}
	n.Answer(running, cluster.Text("at last"))
	if got := <-end; got.JSON != cluster.Text("at last") {
		t.Errorf("%v", got)
	}
}
