package outcomes_test

import (
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// roam connects a node, first at the first gateway.
func roam(t *testing.T, gateways []*cluster.Gateway, user, id string, answer func(cluster.ToolCall) string) *cluster.Roamer {
	query := url.Values{"client_id": {"user_" + user}, "node_id": {id}}
	return cluster.Roam(t, func(i int) (*cluster.Client, error) {
		return gateways[i%len(gateways)].TryDial(t, "/ws/extension", query, nil)
	}, answer)
}

// Callers use a pod while a load balancer would: until its readiness fails. They try again, elsewhere, what was not
// delivered, and nothing else.
func TestADrainUnderLoadLosesNoCallAndRunsNoneTwice(t *testing.T) {
	t.Parallel()
	c := draining(t, 2, 20*time.Second)
	l := &cluster.Ledger{User: "u"}
	var nodes []*cluster.Roamer
	slow := func(call cluster.ToolCall) string {
		testkit.Pass(5 * time.Millisecond) // so that calls are in flight
		return l.See(call)
	}
	for _, id := range []string{"a", "b", "c", "d", "e", "f"} {
		nodes = append(nodes, roam(t, c.Gateways, "u", id, slow))
	}
	testkit.Eventually(t, 10*time.Second, func() bool { return len(nodesOf(t, c.Gateways[1], "u")) == 6 }, "all nodes are there")

	var leaving atomic.Bool
	l.NodeOf = func(n int) string { return string(rune('a' + n%6)) }
	stopLoad := l.Load(t.Context(), 24, func(n, attempt int) (cluster.Way, *cluster.Gateway) {
		pod := (n/4 + attempt) % 2
		if leaving.Load() {
			pod = 1
		}
		return cluster.Ways[n%4], c.Gateways[pod]
	})
	testkit.Eventually(t, 20*time.Second, func() bool { return l.Answered() > 200 }, "calls are answered")
	took := stop(t, c.Gateways[0])
	testkit.Eventually(t, 5*time.Second, func() bool { return !c.Gateways[0].Ready(t) }, "the pod is not ready")
	leaving.Store(true)
	if d := stopped(t, took); d > 8*time.Second {
		t.Errorf("the drain took %v", d)
	}
	before := l.Answered()
	testkit.Eventually(t, 20*time.Second, func() bool { return l.Answered() > before+200 }, "calls are answered after the drain")
	stopLoad()
	l.Check(t) // every call was answered
	for i, n := range nodes {
		if closed := n.Closed(); len(closed) != 1 || closed[0].Code != 1012 {
			t.Errorf("node %d was closed with %v, want 1012 once", i, closed)
		}
	}
}
