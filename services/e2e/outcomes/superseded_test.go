package outcomes_test

import (
	"fmt"
	"net/url"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

func TestALaterConnectionTakesOverOnAnyPod(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Gateways: 3})
	for name, pod := range map[string]int{"same": 0, "other": 1} {
		user := name
		old := node(t, c.Gateways[0], user, "n")
		old.Register(`"max_concurrent_tasks":1`)
		running := begin(t.Context(), unary(), c.Gateways[2], call(user, "n", time.Minute))
		old.Call()
		waiting := begin(t.Context(), unary(), c.Gateways[1], call(user, "n", time.Minute))
		open(t, c.Gateways[0], 2)

		later := node(t, c.Gateways[pod], user, "n")
		if code := old.Ended(); code != 4409 {
			t.Errorf("%s pod: the old connection closed with %d", name, code)
		}
		expect(t, "the call that ran", ended(t, running), "NODE_DISCONNECTED")
		expect(t, "the call that waited", ended(t, waiting), "NODE_NOT_CONNECTED")
		later.Serve(func(cluster.ToolCall) string { return cluster.Text("I am later") })
		goesTo(t, c, call(user, "n", time.Minute), "later")
		goesTo(t, c, &toolv1.Call{UserId: user, ToolName: "click"}, "later")
		listed(t, c, user, "n")
	}
}

// listed fails unless exactly these nodes are connected, whichever gateway is asked.
func listed(t *testing.T, c *cluster.Cluster, user string, want ...string) {
	t.Helper()
	for i, g := range c.Gateways {
		if got := nodesOf(t, g, user); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("gateway %d lists %q, want %q", i, got, want)
		}
	}
}

// nodesOf lists the connected nodes of a user.
func nodesOf(t *testing.T, g *cluster.Gateway, user string) (list []string) {
	t.Helper()
	r, err := g.Tools.ListNodes(t.Context(), &toolv1.ListNodesRequest{UserId: user})
	if err != nil {
		t.Error(err)
	}
	for _, n := range r.GetNodes() {
		list = append(list, n.GetInfo().GetNodeId())
	}
	return list
}

// The registry compares epochs: what an old connection still has to say is too late.
func TestAStaleGoodbyeOrHeartbeatDoesNotTouchTheLaterConnection(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Registries: 2})
	node(t, c.Gateways[0], "u", "n")
	current := func() *nodev1.Node {
		t.Helper()
		r, err := c.Gateways[0].Tools.ListNodes(t.Context(), &toolv1.ListNodesRequest{UserId: "u"})
		if err != nil || len(r.GetNodes()) != 1 {
			t.Fatalf("listed: %v, %v", r.GetNodes(), err)
		}
		return r.GetNodes()[0]
	}
	stale := current()
	named(t, c.Gateways[1], "u", "n")
	later := current()
	if later.GetEpoch() <= stale.GetEpoch() || later.GetGatewayId() == stale.GetGatewayId() {
		t.Fatalf("epoch %d at %s follows %d at %s", later.GetEpoch(), later.GetGatewayId(), stale.GetEpoch(), stale.GetGatewayId())
	}
	for i := range c.Registries {
		registry := c.Registry(i)
		beats, err := registry.Heartbeat(t.Context(), &nodev1.HeartbeatRequest{GatewayId: stale.GetGatewayId(), Beats: []*nodev1.NodeBeat{
			{UserId: "u", NodeId: "n", Epoch: stale.GetEpoch(), Status: nodev1.NodeStatus_NODE_STATUS_OFFLINE, CurrentTasks: 7},
		}})
		if err != nil || beats.GetResults()[0] != nodev1.BeatResult_BEAT_RESULT_SUPERSEDED {
			t.Errorf("a stale heartbeat: %v, %v", beats, err)
		}
		bye, err := registry.Deregister(t.Context(), &nodev1.DeregisterRequest{Nodes: []*nodev1.NodeRef{{UserId: "u", NodeId: "n", Epoch: stale.GetEpoch()}}})
		if err != nil || bye.GetRemoved()[0] {
			t.Errorf("a stale goodbye: %v, %v", bye, err)
		}
	}
	if got := current(); got.GetEpoch() != later.GetEpoch() || got.GetStatus() != nodev1.NodeStatus_NODE_STATUS_ONLINE || got.GetCurrentTasks() != 0 {
		t.Errorf("listed: %v", got)
	}
	goesTo(t, c, &toolv1.Call{UserId: "u", ToolName: "click"}, "n")
}

// connectAtOnce opens two sockets of one node, each at its gateway, at the same moment.
func connectAtOnce(t *testing.T, gateways [2]*cluster.Gateway, user string) [2]*cluster.Client {
	t.Helper()
	var sockets [2]*cluster.Client
	var dialling sync.WaitGroup
	for i, g := range gateways {
		dialling.Go(func() {
			s, err := g.TryDial(t, "/ws/extension", url.Values{"client_id": {"user_" + user}, "node_id": {"n"}}, nil)
			if err != nil {
				t.Error(err)
				return
			}
			s.Serve(func(cluster.ToolCall) string { return cluster.Text("I am " + strconv.Itoa(i)) })
			sockets[i] = s
		})
	}
	dialling.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return sockets
}

func TestOfTwoConnectionsAtTheSameMomentExactlyOneSurvives(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Gateways: 3, Registries: 2})
	survived := [2]int{}
	for round := range 50 {
		user := fmt.Sprint("u", round)
		pods := [2]*cluster.Gateway{c.Gateways[0], c.Gateways[1]}
		if round%5 == 4 { // both on the same pod
			pods[1] = pods[0]
		}
		sockets := connectAtOnce(t, pods, user)
		testkit.Eventually(t, 10*time.Second, func() bool { return !sockets[0].Open() || !sockets[1].Open() }, "round %d: one is closed", round)
		left := 0
		if !sockets[1].Open() {
			left = 1
		}
		// The connection that was accepted first is superseded or, if it reached the registry second, told to connect
		// again: the clocks of two pods may differ.
		if code := sockets[left].Ended(); code != 4409 && (code != 1013 || pods[0] == pods[1]) {
			t.Errorf("round %d: closed with %d", round, code)
		}
		survived[1-left]++
		for i, g := range c.Gateways {
			got := unary().Call(t.Context(), g, call(user, "n", 5*time.Second))
			if got.JSON != cluster.Text("I am "+strconv.Itoa(1-left)) {
				t.Errorf("round %d: through gateway %d: %v, want an answer of %d", round, i, got, 1-left)
			}
		}
		listed(t, c, user, "n")
		if !sockets[1-left].Open() {
			t.Fatalf("round %d: neither survived", round)
		}
	}
	t.Logf("the first survived %d times, the second %d times", survived[0], survived[1])
}

// Many connections at once, several times over: the last one in the order of the cluster stays.
func TestOfManyConnectionsAtOnceExactlyOneSurvives(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Gateways: 3})
	for round := range 5 {
		user := fmt.Sprint("u", round)
		var mu sync.Mutex
		var sockets []*cluster.Client
		var dialling sync.WaitGroup
		for i := range 12 {
			dialling.Go(func() {
				s := c.Gateways[i%3].Extension(t, user, "n")
				mu.Lock()
				defer mu.Unlock()
				sockets = append(sockets, s)
			})
		}
		dialling.Wait()
		alive := func() (left []*cluster.Client) {
			for _, s := range sockets {
				if s.Open() {
					left = append(left, s)
				}
			}
			return left
		}
		testkit.Eventually(t, 10*time.Second, func() bool { return len(alive()) <= 1 }, "round %d: all but one are closed", round)
		left := alive()
		if len(left) != 1 {
			t.Fatalf("round %d: none survived", round)
		}
		left[0].Serve(func(cluster.ToolCall) string { return cluster.Text("I am the last") })
		goesTo(t, c, call(user, "n", 5*time.Second), "the last")
		listed(t, c, user, "n")
	}
}
