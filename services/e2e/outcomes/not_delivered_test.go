package outcomes_test

import (
	"bytes"
	"net/http"
	"slices"
	"testing"
	"time"

	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// roundTrip is more than one round trip takes on a busy machine, and less than any wait for a pod that is silent.
const roundTrip = 3 * time.Second

func TestACallToNobodyIsRefusedInOneRoundTrip(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	mine := node(t, c.Gateways[0], "owner", "ext")
	for name, call := range map[string]*toolv1.Call{
		"a user without nodes":        call("nobody", "", time.Minute),
		"a user never seen":           call("nobody", "ext", time.Minute),
		"a node never seen":           call("owner", "other", time.Minute),
		"another user's node":         call("stranger", "ext", time.Minute),
		"a session of another user's": {UserId: "stranger", SessionId: "s", ToolName: "click"},
		"a node of another type":      {UserId: "owner", NodeId: "ext", ToolName: "click", NodeType: desktop},
		"no node of that type":        {UserId: "owner", ToolName: "click", NodeType: desktop},
	} {
		everyWay(t, c.Gateways, call, func(way string, got cluster.Ended) {
			expect(t, name+", "+way, got, "NODE_NOT_CONNECTED")
			if got.Took > roundTrip {
				t.Errorf("%s, %s: took %v", name, way, got.Took)
			}
		})
	}
	mine.Silent()
}

func TestANodeThatLeftIsNotConnectedAnywhere(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	n := node(t, c.Gateways[0], "u", "n")
	n.Serve(func(cluster.ToolCall) string { return cluster.Text("here") })
	everyWay(t, c.Gateways, call("u", "n", time.Minute), func(way string, got cluster.Ended) { answered(t, way, got) })
	n.Cut()
	open(t, c.Gateways[0], 0)
	everyWay(t, c.Gateways, call("u", "n", time.Minute), func(way string, got cluster.Ended) {
		expect(t, way, got, "NODE_NOT_CONNECTED")
		if got.Took > roundTrip {
			t.Errorf("%s: took %v", way, got.Took)
		}
	})
}

func TestSeveralNodesRequireASelectionFromTheList(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	nodes := []*cluster.Client{node(t, c.Gateways[0], "u", "first"), node(t, c.Gateways[1], "u", "second")}
	other := c.Gateways[1].Desktop(t, "u", "third")
	other.Silent()
	choice := &toolv1.Call{UserId: "u", SessionId: "s", ToolName: "click", NodeType: extension}
	everyWay(t, c.Gateways, choice, func(way string, got cluster.Ended) {
		expect(t, way, got, "REQUIRES_SELECTION")
		if want := []string{"first", "second"}; !slices.Equal(got.Nodes, want) {
			t.Errorf("%s offers %q, want %q", way, got.Nodes, want)
		}
	})
	for _, n := range append(nodes, other) {
		n.Silent()
	}
}

func TestAToolThatIsNotListedIsNotOffered(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	n := node(t, c.Gateways[0], "u", "n")
	n.Register(`"available_tools":["type","screenshot"]`)
	everyWay(t, c.Gateways, call("u", "n", time.Minute), func(way string, got cluster.Ended) { expect(t, way, got, "TOOL_NOT_OFFERED") })
	n.Silent()
	// A node that lists no tools takes any.
	n.Register(`"available_tools":[]`)
	n.Serve(func(cluster.ToolCall) string { return cluster.Text("clicked") })
	everyWay(t, c.Gateways, call("u", "n", time.Minute), func(way string, got cluster.Ended) { answered(t, way, got) })
}

// The frame's bound is 10 MiB: what the call adds to arguments that just fit is too much.
func TestACallOverTheFramesBoundIsTooLarge(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	n := node(t, c.Gateways[0], "u", "n")
	for name, size := range map[string]int{"just over": 10<<20 - 50, "far over": 12 << 20} {
		big := call("u", "n", time.Minute)
		big.ArgumentsJson = append(append([]byte(`{"x":"`), bytes.Repeat([]byte("x"), size)...), `"}`...)
		for _, w := range cluster.Ways {
			got := w.Call(t.Context(), c.Gateways[1], big)
			if name == "far over" && got.HTTP != 0 { // over REST the body alone is more than the route reads
				if got.HTTP != http.StatusRequestEntityTooLarge {
					t.Errorf("%s, %s: HTTP %d", name, w.Name, got.HTTP)
				}
				got.HTTP = http.StatusConflict // as the row has it, for what is the same
			}
			expect(t, name+", "+w.Name, got, "TOO_LARGE")
		}
	}
	n.Silent()
}
