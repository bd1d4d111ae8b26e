package faults_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// Ten places cannot be counted while Redis is away; the eleventh is sent away when they can.
func TestNodesThatCameWithoutRedisAreTenAfterwards(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	nodes := map[string]*cluster.Client{}
	connect := func(from, to int) {
		for i := from; i < to; i++ {
			id := fmt.Sprint("n", i)
			nodes[id] = named(t, c.Gateways[i%2], "u", id, id)
		}
	}
	connect(0, 6)
	c.Redis.Stop()
	connect(6, 14)
	for id := range nodes {
		if !reaches(t, c, call("u", id), id) {
			t.Errorf("%s cannot be called meanwhile", id)
		}
	}
	c.Redis.Start()
	open := func() (ids []string) {
		for id, n := range nodes {
			if n.Open() {
				ids = append(ids, id)
			}
		}
		return ids
	}
	soon(t, func() bool { return len(open()) <= 10 }, "four are sent away")
	for _, n := range nodes {
		if !n.Open() && n.Ended() != 4009 {
			t.Errorf("closed with %d, want 4009", n.Ended())
		}
	}
	soon(t, func() bool {
		r, err := c.Gateways[0].Tools.ListNodes(t.Context(), &toolv1.ListNodesRequest{UserId: "u"})
		return err == nil && len(r.GetNodes()) == 10
	}, "ten are listed")
	left := open()
	if len(left) != 10 {
		t.Fatalf("%d nodes are left", len(left))
	}
	for _, id := range left {
		if !reaches(t, c, call("u", id), id) {
			t.Errorf("%s cannot be called", id)
		}
	}
}

func TestRedisAndNATSRestartedTogetherUnderLoad(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Registries: 2})
	l, stop := loaded(t, c, c.Gateways[0], "load")
	first, second := named(t, c.Gateways[0], "u", "first", "first"), named(t, c.Gateways[1], "u", "second", "second")
	web := c.Gateways[1].Web(t, "u")
	for range 2 {
		c.NATS.Stop()
		c.Redis.Stop()
		late := named(t, c.Gateways[1], "late", "n", "late") // with nothing but its own pod
		testkit.Pass(2 * time.Second)
		if got := cluster.Unary(t.Context(), c.Gateways[1], call("late", "n")); got.JSON != cluster.Text("I am late") {
			t.Errorf("a node of the pod itself: %v", got)
		}
		c.Redis.Start()
		c.NATS.Start()
		soon(t, func() bool {
			return reaches(t, c, call("u", "first"), "first") && reaches(t, c, call("u", "second"), "second") && reaches(t, c, call("late", "n"), "late")
		}, "every node can be called from every pod")
		soon(t, func() bool { return lists(t, c, "u", "first", "second") && lists(t, c, "late", "n") }, "every node is listed")
		late.Cut()
	}
	stop()
	l.Check(t, "HOLDER_LOST")
	if !first.Open() || !second.Open() || !web.Open() {
		t.Error("a socket was closed")
	}
	web.Silent()
}
