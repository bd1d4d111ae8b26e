package outcomes_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// named connects an extension that answers with its name.
func named(t *testing.T, g *cluster.Gateway, user, id string) *cluster.Client {
	t.Helper()
	n := node(t, g, user, id)
	n.Serve(func(cluster.ToolCall) string { return cluster.Text("I am " + id) })
	return n
}

// goesTo fails unless the call reaches this node through every gateway in every way.
func goesTo(t *testing.T, c *cluster.Cluster, call *toolv1.Call, id string) {
	t.Helper()
	everyWay(t, c.Gateways, call, func(way string, got cluster.Ended) {
		if strings.HasPrefix(way, "REST") && call.GetPreferredNodeId() != "" {
			return // REST has no such field
		}
		if !strings.Contains(got.JSON, "I am "+id+`"`) {
			t.Errorf("%s: %v, want the node %s", way, got, id)
		}
	})
}

// session is a call of a session that names no node.
func session(id string) *toolv1.Call {
	return &toolv1.Call{UserId: "u", SessionId: id, ToolName: "click"}
}

func TestASessionIsBoundToTheOnlyNodeAndStaysBound(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	first := named(t, c.Gateways[0], "u", "first")
	goesTo(t, c, session("s"), "first")
	named(t, c.Gateways[1], "u", "second") // makes no difference to the session
	goesTo(t, c, session("s"), "first")
	everyWay(t, c.Gateways, session("new"), func(way string, got cluster.Ended) {
		if !strings.HasPrefix(way, "REST") { // which asks for an extension, of which there are two as well
			expect(t, way, got, "REQUIRES_SELECTION")
		}
	})
	// A binding outlives its node, and finds it again.
	first.Cut()
	open(t, c.Gateways[0], 0)
	gone(t, c, "first")
	everyWay(t, c.Gateways, session("s"), func(way string, got cluster.Ended) { expect(t, way, got, "NODE_NOT_CONNECTED") })
	named(t, c.Gateways[1], "u", "first")
	goesTo(t, c, session("s"), "first")
}

// gone waits until the node is in no list.
func gone(t *testing.T, c *cluster.Cluster, id string) {
	t.Helper()
	testkit.Eventually(t, 10*time.Second, func() bool {
		return !strings.Contains(c.Gateways[0].Get(t, "/api/node/devices", "u").Raw, `"`+id+`"`)
	}, "the node %s is in no list", id)
}

func TestASessionIsBoundByHand(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	named(t, c.Gateways[0], "u", "first")
	second := named(t, c.Gateways[1], "u", "second")
	bind := func(g *cluster.Gateway, id string) int {
		return g.Post(t, "/api/node/bind", "u", fmt.Sprintf(`{"session_id":"s","node_id":%q}`, id)).Status
	}
	if status := bind(c.Gateways[0], "second"); status != 200 {
		t.Fatal(status)
	}
	goesTo(t, c, session("s"), "second")
	if status := bind(c.Gateways[1], "first"); status != 200 { // a binding can be changed
		t.Fatal(status)
	}
	goesTo(t, c, session("s"), "first")
	second.Cut()
	gone(t, c, "second")
	if status := bind(c.Gateways[0], "second"); status != 200 { // seen once is enough
		t.Error(status)
	}
	everyWay(t, c.Gateways, session("s"), func(way string, got cluster.Ended) { expect(t, way, got, "NODE_NOT_CONNECTED") })
	r := c.Gateways[0].Post(t, "/api/node/bind", "u", `{"session_id":"s","node_id":"never seen"}`)
	if r.Status != 404 || r.Type != "application/problem+json" || r.Body["success"] != false {
		t.Errorf("a node never seen: %d %s", r.Status, r.Raw)
	}
	if r := c.Gateways[0].Post(t, "/api/node/bind", "stranger", `{"session_id":"s","node_id":"first"}`); r.Status != 404 {
		t.Errorf("another user's node: %d %s", r.Status, r.Raw)
	}
}

func TestTheNodeNamedIsTheOneCalledWhateverTheSession(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	named(t, c.Gateways[0], "u", "first")
	named(t, c.Gateways[1], "u", "second")
	for _, id := range []string{"first", "second"} {
		goesTo(t, c, &toolv1.Call{UserId: "u", SessionId: "s", NodeId: id, ToolName: "click"}, id)
	}
	everyWay(t, c.Gateways, session("s"), func(way string, got cluster.Ended) { // and binds nothing
		expect(t, way, got, "REQUIRES_SELECTION")
	})
}

func TestAPreferredNodeIsTakenWhileItIsConnected(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	named(t, c.Gateways[0], "u", "first")
	second := named(t, c.Gateways[1], "u", "second")
	preferring := func(id, preferred string) *toolv1.Call {
		call := session(id)
		call.PreferredNodeId = preferred
		return call
	}
	goesTo(t, c, preferring("s", "second"), "second")
	goesTo(t, c, session("s"), "second")             // bound by that
	goesTo(t, c, preferring("s", "first"), "second") // which a preference does not change
	goesTo(t, c, preferring("", "second"), "second") // nor needs a session
	goesTo(t, c, preferring("", "nowhere"), "first") // and means nothing where it is not connected
	second.Cut()
	gone(t, c, "second")
	goesTo(t, c, preferring("t", "second"), "first") // the only one left
}

func TestWithoutASessionTheFirstConnectedIsCalled(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	any := &toolv1.Call{UserId: "u", ToolName: "click"}
	first := named(t, c.Gateways[1], "u", "zz")
	named(t, c.Gateways[0], "u", "aa")
	for until := time.Now().Add(300 * time.Millisecond); time.Now().Before(until); { // until gateways remember it
		goesTo(t, c, any, "zz")
	}
	first.Cut()
	gone(t, c, "zz")
	goesTo(t, c, any, "aa")
	named(t, c.Gateways[1], "u", "zz") // connected last now
	goesTo(t, c, any, "aa")

	desk := c.Gateways[1].Desktop(t, "u", "desk")
	desk.Silent()
	desk.Serve(func(cluster.ToolCall) string { return cluster.Text("I am desk") })
	goesTo(t, c, &toolv1.Call{UserId: "u", ToolName: "click", NodeType: desktop}, "desk")
	goesTo(t, c, &toolv1.Call{UserId: "u", ToolName: "click", NodeType: extension}, "aa")
}

// "offline" takes a node out of selection, and "busy" does not stop a call.
func TestANodeThatCallsItselfOfflineIsNotSelected(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	first := node(t, c.Gateways[0], "u", "first")
	second := node(t, c.Gateways[1], "u", "second")
	first.Send(`{"type":"heartbeat","status":"offline"}`)
	first.Expect(`{"type":"heartbeat_ack"}`)
	second.Send(`{"type":"heartbeat","status":"busy"}`)
	second.Expect(`{"type":"heartbeat_ack"}`)
	statuses := func(want ...nodev1.NodeStatus) bool {
		r, err := c.Gateways[0].Tools.ListNodes(t.Context(), &toolv1.ListNodesRequest{UserId: "u"})
		ok := err == nil && len(r.GetNodes()) == len(want)
		for i, n := range r.GetNodes() {
			ok = ok && n.GetStatus() == want[i]
		}
		return ok
	}
	testkit.Eventually(t, 10*time.Second, func() bool {
		return statuses(nodev1.NodeStatus_NODE_STATUS_OFFLINE, nodev1.NodeStatus_NODE_STATUS_BUSY)
	}, "the registry hears of both")
	for id, n := range map[string]*cluster.Client{"first": first, "second": second} {
		n.Serve(func(cluster.ToolCall) string { return cluster.Text("I am " + id) })
	}
	goesTo(t, c, &toolv1.Call{UserId: "u", ToolName: "click"}, "second")
	goesTo(t, c, session("s"), "second")
	goesTo(t, c, &toolv1.Call{UserId: "u", NodeId: "first", ToolName: "click"}, "first") // its socket is there
}

// However many calls of an unbound session begin at once, on whichever pods, they go to one node.
func TestCallsThatBeginTogetherAgreeOnTheirSessionsNode(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Gateways: 3, Registries: 2})
	for i, g := range c.Gateways {
		named(t, g, "u", fmt.Sprint("n", i))
	}
	for round := range 10 {
		var calls sync.WaitGroup
		var mu sync.Mutex
		went := map[string]int{}
		for i := range 12 {
			calls.Go(func() {
				call := session(fmt.Sprint("s", round))
				call.PreferredNodeId = fmt.Sprint("n", i%3)
				got := unary().Call(t.Context(), c.Gateways[i%3], call)
				mu.Lock()
				defer mu.Unlock()
				went[got.JSON]++
			})
		}
		calls.Wait()
		if len(went) != 1 {
			t.Errorf("round %d: one session's calls went to %v", round, went)
		}
	}
}
