package faults_test

import (
	"os"
	"slices"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// outage is how long a server stays away: 8 s, or what E2E_OUTAGE says.
func outage(t *testing.T) time.Duration {
	t.Helper()
	d, err := time.ParseDuration(os.Getenv("E2E_OUTAGE"))
	if err != nil {
		return 8 * time.Second
	}
	return d
}

// loaded runs numbered calls to a node by name, through every gateway in every way.
func loaded(t *testing.T, c *cluster.Cluster, g *cluster.Gateway, user string) (l *cluster.Ledger, stop func()) {
	t.Helper()
	l = &cluster.Ledger{User: user, Node: "n"}
	n := g.Extension(t, user, "n")
	n.Silent()
	n.Serve(l.See)
	stop = l.Load(t.Context(), 8, func(i, attempt int) (cluster.Way, *cluster.Gateway) {
		testkit.Pass(5 * time.Millisecond) // a steady trickle is enough
		return cluster.Ways[i%4], c.Gateways[(i/4+attempt)%len(c.Gateways)]
	})
	t.Cleanup(func() {
		if !n.Open() {
			t.Error("the socket of the node under load was closed")
		}
	})
	return l, stop
}

func TestRedisEmptiedIsNoticedByNobodyWhoNamesTheNode(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Registries: 2})
	l, stop := loaded(t, c, c.Gateways[0], "load")
	first, second := named(t, c.Gateways[0], "u", "first", "first"), named(t, c.Gateways[1], "u", "second", "second")
	anyone, session := &toolv1.Call{UserId: "u", ToolName: "click"}, &toolv1.Call{UserId: "u", SessionId: "s", PreferredNodeId: "second", ToolName: "click"}
	if !reaches(t, c, anyone, "first") || !reaches(t, c, session, "second") {
		t.Fatal("the cluster does not work")
	}
	for round := range 3 {
		c.Redis.Flush()
		if !reaches(t, c, call("u", "first"), "first") || !reaches(t, c, call("u", "second"), "second") {
			t.Errorf("round %d: a node that is named cannot be called", round)
		}
		soon(t, func() bool { return lists(t, c, "u", "first", "second") }, "both nodes are listed again, in the order in which they came")
		if !reaches(t, c, anyone, "first") || !reaches(t, c, session, "second") {
			t.Errorf("round %d: calls without a node do not work", round)
		}
	}
	// Epochs go on: who comes later than the loss takes over.
	named(t, c.Gateways[1], "u", "first", "first again")
	if code := first.Ended(); code != 4409 || !second.Open() {
		t.Errorf("the earlier connection closed with %d", code)
	}
	stop()
	if reasons := l.Check(t); len(reasons) != 1 || l.Retries("") != 0 {
		t.Errorf("calls ended: %v", reasons)
	}
}

func TestRedisAwayStopsNoCallThatNamesItsNode(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Registries: 2})
	l, stop := loaded(t, c, c.Gateways[0], "load")
	kept := named(t, c.Gateways[0], "u", "kept", "kept")
	leaves := named(t, c.Gateways[0], "u", "leaves", "leaves")
	c.Redis.Stop()
	gone := time.Now()

	// A node that comes meanwhile can be called at once, by name, from every pod; one that registers again is answered.
	begun := time.Now()
	late := named(t, c.Gateways[1], "u", "late", "late")
	if took := time.Since(begun); took > 4*time.Second {
		t.Errorf("connecting took %v", took)
	}
	registers := c.Gateways[0].Extension(t, "u", "registers")
	registers.Register(`"node_name":"Registers"`)
	registers.Serve(func(cluster.ToolCall) string { return cluster.Text("I am registers") })
	for _, id := range []string{"kept", "late", "registers"} {
		if !reaches(t, c, call("u", id), id) {
			t.Errorf("the node %s cannot be called", id)
		}
	}
	leaves.Cut()
	moved := named(t, c.Gateways[1], "u", "kept", "moved") // supersedes without the registry
	if code := kept.Ended(); code != 4409 {
		t.Errorf("the earlier connection closed with %d", code)
	}
	if !reaches(t, c, call("u", "kept"), "moved") {
		t.Error("the node that moved cannot be called")
	}
	// What needs the registry says so: it was not delivered.
	for _, w := range cluster.Ways {
		got := w.Call(t.Context(), c.Gateways[1], &toolv1.Call{UserId: "u", SessionId: "s", ToolName: "click"})
		if got.Reason != "BUS_UNAVAILABLE" || got.Outcome != "not_delivered" || got.Took > 4*time.Second {
			t.Errorf("%s: %v, want BUS_UNAVAILABLE", w.Name, got)
		}
	}
	if r := c.Gateways[0].Get(t, "/api/node/devices", "u"); r.Status != 503 || r.Body["reason"] != "BUS_UNAVAILABLE" {
		t.Errorf("the list: %d %s", r.Status, r.Raw)
	}
	testkit.Pass(time.Until(gone.Add(outage(t))))
	if !reaches(t, c, call("u", "late"), "late") {
		t.Error("at the end of the outage a node that is named cannot be called")
	}

	c.Redis.Start()
	soon(t, func() bool {
		r, err := c.Gateways[0].Tools.ListNodes(t.Context(), &toolv1.ListNodesRequest{UserId: "u"})
		var got []string
		for _, n := range r.GetNodes() {
			got = append(got, n.GetInfo().GetNodeId())
		}
		slices.Sort(got)
		return err == nil && slices.Equal(got, []string{"kept", "late", "registers"})
	}, "the nodes that are connected are listed")
	soon(t, func() bool { return reaches(t, c, call("u", "kept"), "moved") }, "the node that moved can be called")
	for name, n := range map[string]*cluster.Client{"moved": moved, "late": late, "registers": registers} {
		if !n.Open() {
			t.Errorf("%s was closed with %d", name, n.Ended())
		}
	}
	stop()
	l.Check(t)
}
