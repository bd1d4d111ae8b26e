package faults_test

import (
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// A gateway hangs: its nodes are listed no more, and one that has moved meanwhile, and those of others, are not disturbed. When it is
// back, so are its nodes, over the connections that they had.
func TestNodesOfAHungGatewayLeaveAndComeBack(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Gateways: 1, GatewayProcesses: 1, Registries: 2})
	well, hung := c.Gateways[0], c.Gateways[1]
	stays := named(t, well, "u", "stays", "stays")
	named(t, hung, "u", "waits", "waits")
	moves := named(t, hung, "u", "moves", "moves")
	soon(t, func() bool { return listsAt(t, well, "u", "stays", "waits", "moves") }, "all are there")
	registry := c.Registry(0)
	soon(t, func() bool {
		r, err := registry.GetStats(t.Context(), &nodev1.GetStatsRequest{})
		return err == nil && r.GetTotal().GetExtensionConnections() == 3
	}, "both gateways have reported")
	epochs := epochsOf(t, well)

	hung.Process.Pause(t)
	began := time.Now()
	moved := named(t, well, "u", "moves", "moved")
	testkit.Eventually(t, 15*time.Second, func() bool { return listsAt(t, well, "u", "stays", "moves") }, "its node has left")
	t.Logf("its node left after %v", time.Since(began).Round(time.Millisecond))
	if left := time.Since(began); left < 5*time.Second {
		t.Errorf("after %v, in which a gateway may well be busy", left)
	}
	got := epochsOf(t, well)
	if got["stays"] != epochs["stays"] || got["moves"] <= epochs["moves"] || !stays.Open() || !moved.Open() {
		t.Errorf("epochs were %v, are %v", epochs, got)
	}

	hung.Process.Continue(t)
	testkit.Eventually(t, 5*time.Second, func() bool { return listsAt(t, well, "u", "stays", "waits", "moves") }, "it is back")
	soon(t, func() bool {
		return reaches(t, c, call("u", "waits"), "waits") && reaches(t, c, call("u", "moves"), "moved")
	}, "all can be called")
	if again := epochsOf(t, well); again["waits"] != epochs["waits"] || again["moves"] != got["moves"] {
		t.Errorf("epochs were %v, are %v", epochs, again)
	}
	soon(t, func() bool { return !moves.Open() }, "the connection that has a successor is closed")
	if code := moves.Ended(); code != 4409 {
		t.Errorf("closed with %d", code)
	}
}

// epochsOf returns the epochs of the user's nodes.
func epochsOf(t *testing.T, g *cluster.Gateway) map[string]int64 {
	t.Helper()
	r, err := g.Tools.ListNodes(t.Context(), &toolv1.ListNodesRequest{UserId: "u"})
	if err != nil {
		t.Fatal(err)
	}
	epochs := map[string]int64{}
	for _, n := range r.GetNodes() {
		epochs[n.GetInfo().GetNodeId()] = n.GetEpoch()
	}
	return epochs
}
