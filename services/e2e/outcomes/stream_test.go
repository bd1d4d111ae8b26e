package outcomes_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

func TestAHalfClosedStreamStillGetsItsAnswers(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	n := node(t, c.Gateways[0], "u", "n")
	for _, g := range c.Gateways {
		stream := newCalls(t, t.Context(), g)
		stream.start(1, call("u", "n", time.Minute))
		stream.start(2, &toolv1.Call{UserId: "u", ToolName: "click"}) // its node is looked up first
		if err := stream.stream.CloseSend(); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			n.Answer(n.Call(), cluster.Text("here"))
		}
		got := map[uint64]bool{}
		for range 2 {
			resp := stream.next()
			got[resp.GetId()] = string(resp.GetAnswer().GetResultJson()) == cluster.Text("here")
		}
		if !got[1] || !got[2] {
			t.Errorf("answered: %v", got)
		}
		if code := stream.ended(); code != codes.OK {
			t.Errorf("the stream ended with %s", code)
		}
	}
}

func TestAStreamHalfClosedAtOnceEndsWell(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Gateways: 1})
	stream := newCalls(t, t.Context(), c.Gateways[0])
	if err := stream.stream.CloseSend(); err != nil {
		t.Fatal(err)
	}
	if code := stream.ended(); code != codes.OK {
		t.Errorf("the stream ended with %s", code)
	}
}

func TestMisuseEndsAStreamWithInvalidArgument(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	n := node(t, c.Gateways[0], "u", "n")
	n.Register(`"max_concurrent_tasks":20`)
	for name, misuse := range map[string]func(calls){
		"an id that is open":  func(s calls) { s.start(1, call("u", "n", time.Minute)) },
		"the id 0":            func(s calls) { s.start(0, call("u", "n", time.Minute)) },
		"no action":           func(s calls) { s.send(&toolv1.CallsRequest{Id: 2}) },
		"the id 0, cancelled": func(s calls) { s.cancel(0, "") },
	} {
		stream := newCalls(t, t.Context(), c.Gateways[1])
		stream.start(1, call("u", "n", time.Minute))
		running := n.Call()
		misuse(stream)
		if code := stream.ended(); code != codes.InvalidArgument {
			t.Errorf("%s: the stream ended with %s", name, code)
		}
		cancelled(t, n, running)
		n.Silent() // and the second call was not made
	}
}

func TestAnIDIsFreeAgainOnceItsCallIsOver(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	n := node(t, c.Gateways[0], "u", "n")
	n.Serve(func(cluster.ToolCall) string { return cluster.Text("here") })
	stream := newCalls(t, t.Context(), c.Gateways[1])
	for range 3 {
		stream.start(5, call("u", "n", time.Minute))
		if resp := stream.next(); resp.GetId() != 5 || resp.GetAnswer() == nil {
			t.Fatalf("got %v", resp)
		}
	}
}

func TestCancellingWhatIsNotOpenIsIgnored(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	n := node(t, c.Gateways[0], "u", "n")
	stream := newCalls(t, t.Context(), c.Gateways[1])
	stream.cancel(99, "never begun")
	stream.start(1, call("u", "n", time.Minute))
	n.Answer(n.Call(), cluster.Text("here"))
	if resp := stream.next(); resp.GetAnswer() == nil {
		t.Fatalf("got %v", resp)
	}
	stream.cancel(1, "over already")
	stream.start(2, call("u", "n", time.Minute))
	n.Answer(n.Call(), cluster.Text("here"))
	if resp := stream.next(); resp.GetId() != 2 || resp.GetAnswer() == nil {
		t.Fatalf("got %v", resp)
	}
}

// One call that cannot be made fails by itself; the other calls of the stream go on.
func TestAFailureOnAStreamIsOneCallsOwn(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	n := node(t, c.Gateways[0], "u", "n")
	stream := newCalls(t, t.Context(), c.Gateways[1])
	stream.start(1, call("u", "n", time.Minute))
	running := n.Call()
	for id, bad := range map[uint64]*toolv1.Call{
		2: {UserId: "u", NodeId: "gone", ToolName: "click"}, 3: {ToolName: "click"}, 4: {UserId: "u"},
		5: {UserId: "u", NodeId: "n", ToolName: "click", ArgumentsJson: []byte(`[]`)}, 6: {UserId: "u", NodeId: strings.Repeat("x", 300), ToolName: "click"},
		7: nil,
	} {
		stream.start(id, bad)
		resp := stream.next()
		if f := resp.GetFailure(); resp.GetId() != id || f.GetOutcome() != "not_delivered" || f.GetMessage() == "" {
			t.Errorf("call %d: %v", id, resp)
		}
	}
	n.Answer(running, cluster.Text("here"))
	if resp := stream.next(); resp.GetId() != 1 || resp.GetAnswer() == nil {
		t.Errorf("the good call: %v", resp)
	}
}

func TestTwoThousandCallsShareAStream(t *testing.T) {
	t.Parallel()
	const many = 2000
	c := cluster.Start(t, cluster.Options{})
	n := node(t, c.Gateways[0], "u", "n")
	n.Register(`"max_concurrent_tasks":` + strconv.Itoa(many))
	for _, g := range c.Gateways {
		stream := newCalls(t, t.Context(), g)
		for id := 1; id <= many; id++ {
			stream.start(uint64(id), numbered(call("u", "n", time.Minute), id))
		}
		running := make([]cluster.ToolCall, many)
		for i := range running {
			running[i] = n.Call() // all are open before the first is answered
		}
		for _, r := range running {
			n.Answer(r, cluster.Text(marker(r)))
		}
		got := map[uint64]bool{}
		for range many {
			resp := stream.next()
			if want := cluster.Text(strconv.FormatUint(resp.GetId(), 10)); string(resp.GetAnswer().GetResultJson()) != want {
				t.Fatalf("call %d: %v", resp.GetId(), resp)
			}
			got[resp.GetId()] = true
		}
		if len(got) != many {
			t.Errorf("%d calls were answered", len(got))
		}
	}
}
