package outcomes_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
	gateway "github.com/hecaton-dev/hecaton/services/gateway/app"
)

const lateAnswers = "hecaton_gateway_late_answers_total"

// short is a timeout that passes soon, and yet not before a call reaches its node on a busy machine.
const short = 1500 * time.Millisecond

// cancelled fails unless the node's next frame is the notification for this call, to the byte.
func cancelled(t *testing.T, n *cluster.Client, of cluster.ToolCall) {
	t.Helper()
	notice := n.Call()
	want := `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"` + of.ID + `","reason":"` + notice.Params.Reason + `"}}`
	if of.Method != "tools/call" || notice.Params.Reason == "" || notice.Frame != want {
		t.Fatalf("the node got %s\nafter %s", notice.Frame, of.Frame)
	}
}

func TestATimeoutTellsCallerAndNodeAndCountsTheLateAnswer(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	n := node(t, c.Gateways[0], "u", "n")
	late := 0.0
	for i, g := range c.Gateways {
		for _, w := range cluster.Ways[:3] {
			way := w.Name + " through gateway " + strconv.Itoa(i)
			got := w.Call(t.Context(), g, call("u", "n", short))
			expect(t, way, got, "TOOL_TIMEOUT")
			if got.Took < short-10*time.Millisecond || got.Took > short+roundTrip {
				t.Errorf("%s: took %v, want 1.5 s", way, got.Took)
			}
			lost := n.Call()
			cancelled(t, n, lost)
			n.Answer(lost, cluster.Text("too late"))
			n.Answer(lost, cluster.Text("and again"))
			n.Silent() // so both were read
			late += 2
			if got := c.Gateways[0].Metric(t, lateAnswers); got != late {
				t.Errorf("%s: %v late answers counted, want %v", way, got, late)
			}
		}
	}
}

// The default timeout is 60 s (docs/protocols/zeus-nodes.md#calls); REST has no other.
func TestACallThatDoesNotSayWaitsSixtySeconds(t *testing.T) {
	t.Parallel()
	// The node sends nothing meanwhile, and after 60 s of that it would be taken for gone.
	c := cluster.Start(t, cluster.Options{Gateway: func(_ int, c *gateway.Config) { c.HeartbeatLimit = 2 * time.Minute }})
	n := node(t, c.Gateways[0], "u", "n")
	n.Register(`"max_concurrent_tasks":8`)
	everyWay(t, c.Gateways, &toolv1.Call{UserId: "u", NodeId: "n", ToolName: "click"}, func(way string, got cluster.Ended) {
		expect(t, way, got, "TOOL_TIMEOUT")
		if got.Took < 59*time.Second || got.Took > 62*time.Second {
			t.Errorf("%s: took %v, want 60 s", way, got.Took)
		}
	})
}

func TestTheDeadlineOfAnRPCShortensTheTimeout(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	n := node(t, c.Gateways[0], "u", "n")
	n.Register(`"max_concurrent_tasks":4`) // a call given up keeps its place for a while
	for i, g := range c.Gateways {
		for _, w := range cluster.Ways[:2] { // a stream of many calls has no deadline of its own
			way := w.Name + " through gateway " + strconv.Itoa(i)
			ctx, cancel := context.WithTimeout(t.Context(), short)
			got := w.Call(ctx, g, call("u", "n", time.Minute))
			cancel()
			// The client's library hears the cluster or its own clock, whichever is first.
			if got.Code != codes.DeadlineExceeded || got.Took > short+roundTrip {
				t.Errorf("%s: %v", way, got)
			}
			cancelled(t, n, n.Call())
		}
	}
}

func TestATimeoutThatIsNoneIsRefused(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Gateways: 1})
	n := node(t, c.Gateways[0], "u", "n")
	for name, timeout := range map[string]*durationpb.Duration{
		"negative": durationpb.New(-time.Second), "zero": durationpb.New(0), "malformed": {Seconds: 1, Nanos: -1},
		"beyond all durations": {Seconds: 1 << 62},
	} {
		bad := &toolv1.Call{UserId: "u", NodeId: "n", ToolName: "click", Timeout: timeout}
		for _, w := range cluster.Ways[:2] {
			if got := w.Call(t.Context(), c.Gateways[0], bad); status.Code(got.Err) != codes.InvalidArgument {
				t.Errorf("%s, %s: %v", name, w.Name, got)
			}
		}
		if got := cluster.Ways[2].Call(t.Context(), c.Gateways[0], bad); got.Reason != "INVALID_ARGUMENT" || got.Outcome != "not_delivered" {
			t.Errorf("%s, Calls: %v", name, got)
		}
	}
	n.Silent()
}

// Longer than a router takes silence for (5 s): the holder speaks for the call.
func TestALongCallStaysAliveAcrossPods(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	n := node(t, c.Gateways[0], "u", "n")
	n.Register(`"max_concurrent_tasks":4`)
	var ends []<-chan cluster.Ended
	for _, w := range cluster.Ways {
		ends = append(ends, begin(t.Context(), w, c.Gateways[1], call("u", "n", time.Minute)))
	}
	waiting := begin(t.Context(), unary(), c.Gateways[1], call("u", "n", time.Minute))
	open(t, c.Gateways[0], 5)
	select {
	case got := <-ends[0]:
		t.Fatalf("the call ended early: %v", got)
	case <-time.After(8 * time.Second):
	}
	for range 5 {
		n.Answer(n.Call(), cluster.Text("at last"))
	}
	for i, end := range append(ends, waiting) {
		answered(t, "call "+strconv.Itoa(i), ended(t, end))
	}
	testkit.Eventually(t, time.Second, func() bool { return c.Gateways[0].OpenCalls(t) == 0 }, "no call is left")
}
