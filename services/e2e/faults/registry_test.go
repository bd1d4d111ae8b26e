package faults_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// searching runs calls that ask the registry for their node.
func searching(t *testing.T, c *cluster.Cluster) (l *cluster.Ledger, stop func()) {
	t.Helper()
	l = &cluster.Ledger{User: "load"}
	n := c.Gateways[0].Extension(t, "load", "n")
	n.Silent()
	n.Serve(l.See)
	stop = l.Load(t.Context(), 8, func(i, attempt int) (cluster.Way, *cluster.Gateway) {
		return cluster.Ways[i%4], c.Gateways[(i/4+attempt)%2]
	})
	soon(t, func() bool { return l.Answered() > 50 }, "calls are answered")
	return l, stop
}

func TestARegistryReplicaKilledIsNoticedByNobody(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Gateways: -1})
	process := c.StartRegistryProcess()
	c.StartGateway()
	c.StartGateway()
	l, stop := searching(t, c)
	kept := named(t, c.Gateways[1], "u", "kept", "kept")
	process.Kill()
	for i := range 8 { // new nodes are registered
		id := fmt.Sprint("n", i)
		named(t, c.Gateways[i%2], "u", id, id)
		if !reaches(t, c, call("u", id), id) {
			t.Errorf("%s cannot be called", id)
		}
	}
	if !lists(t, c, "u", "kept", "n0", "n1", "n2", "n3", "n4", "n5", "n6", "n7") {
		t.Error("not all nodes are listed")
	}
	before := l.Answered()
	soon(t, func() bool { return l.Answered() > before+100 }, "calls go on")
	stop()
	l.Check(t)
	if n := l.Retries("BUS_UNAVAILABLE") + l.Retries("NODE_NOT_CONNECTED"); n != 0 {
		t.Errorf("%d calls noticed", n)
	}
	if !kept.Open() {
		t.Error("a node's socket was closed")
	}
}

func TestAllRegistriesRestartedKeepSocketsAndWhatTheyKnew(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Registries: 2})
	first, second := named(t, c.Gateways[0], "u", "first", "first"), named(t, c.Gateways[1], "u", "second", "second")
	session := call("u", "")
	session.SessionId, session.PreferredNodeId = "s", "second"
	if !reaches(t, c, session, "second") {
		t.Fatal("the cluster does not work")
	}
	session.PreferredNodeId = ""
	l, stop := searching(t, c)
	for i := range c.Registries { // one after the other, as a roll-out does
		c.RestartRegistry(i)
		if !reaches(t, c, call("u", "first"), "first") {
			t.Error("a node that is named cannot be called")
		}
	}
	for _, r := range c.Registries { // and both at once
		r.Stop(t)
	}
	if !reaches(t, c, call("u", "second"), "second") {
		t.Error("without a registry a node that is named cannot be called")
	}
	late := named(t, c.Gateways[1], "u", "late", "late")
	if !reaches(t, c, call("u", "late"), "late") {
		t.Error("a node that came without a registry cannot be called")
	}
	testkit.Pass(time.Second)
	for i := range c.Registries {
		c.RestartRegistry(i)
	}
	soon(t, func() bool { return lists(t, c, "u", "first", "second", "late") }, "all nodes are listed")
	if !reaches(t, c, session, "second") {
		t.Error("the session was forgotten")
	}
	before := l.Answered()
	soon(t, func() bool { return l.Answered() > before+20 }, "calls that search their node go on")
	stop()
	l.Check(t)
	for name, n := range map[string]*cluster.Client{"first": first, "second": second, "late": late} {
		if !n.Open() {
			t.Errorf("%s was closed with %d", name, n.Ended())
		}
	}
}
