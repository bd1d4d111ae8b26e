package faults_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/security/access"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
	gateway "github.com/hecaton-dev/hecaton/services/gateway/app"
)

// The socket at the pod that is cut off stays open: the test is its client, and does not close it.
func TestAfterAPartitionOfTheBusExactlyOneConnectionSurvives(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Gateways: 2})
	proxy := cluster.NewProxy(t, c.NATS.Addr())
	c.StartGateway(func(cfg *gateway.Config) {
		cfg.NATSURL = config.Secret(testkit.As(access.Gateway, "nats://"+proxy.Addr()))
	})
	whole, cut := c.Gateways[0], c.Gateways[2]
	for round := range 6 {
		user := "u" + strconv.Itoa(round)
		first, second := cut, whole // the node leaves the pod that is cut off,
		if round%2 == 1 {
			first, second = whole, cut // or goes there
		}
		old := named(t, first, user, "n", "old")
		if !reaches(t, c, call(user, "n"), "old") {
			t.Fatalf("round %d: the first connection does not work", round)
		}
		proxy.Cut()
		soon(t, func() bool { return !cut.Ready(t) }, "the pod is cut off")
		later := named(t, second, user, "n", "later")
		if got := cluster.Unary(t.Context(), second, call(user, "n")); got.JSON != cluster.Text("I am later") {
			t.Errorf("round %d: the pod of the later connection: %v", round, got)
		}
		proxy.Heal()
		soon(t, func() bool { return !old.Open() }, "the old connection is closed")
		if code := old.Ended(); code != 4409 {
			t.Errorf("round %d: the old connection closed with %d", round, code)
		}
		soon(t, func() bool { return reaches(t, c, call(user, "n"), "later") }, "calls reach the later connection from every pod")
		if !later.Open() || !lists(t, c, user, "n") {
			t.Errorf("round %d: the later connection is open: %v, and listed: %v", round, later.Open(), lists(t, c, user, "n"))
		}
	}
}

// No pod notices at first: the NATS server still counts the frozen pod among the holders of the node, and sends it calls.
// These are lost, and their callers learn it; the node never receives a call twice.
func TestAPodThatHangsLosesCallsAloudAndItsConnectionAfterwards(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Gateways: 2})
	proxy := cluster.NewProxy(t, c.NATS.Addr())
	hangs := c.StartGateway(func(cfg *gateway.Config) {
		cfg.NATSURL = config.Secret(testkit.As(access.Gateway, "nats://"+proxy.Addr()))
	})
	l := &cluster.Ledger{User: "u", Node: "n"}
	old := hangs.Extension(t, "u", "n")
	old.Silent()
	old.Serve(l.See)
	stop := l.Load(t.Context(), 8, func(i, attempt int) (cluster.Way, *cluster.Gateway) {
		return cluster.Ways[i%4], c.Gateways[(i/4+attempt)%2]
	})
	soon(t, func() bool { return l.Answered() > 50 }, "calls are answered")
	proxy.Freeze()
	later := c.Gateways[0].Extension(t, "u", "n")
	later.Serve(l.See)
	before := l.Answered()
	testkit.Eventually(t, 30*time.Second, func() bool { return l.Answered() > before+20 }, "calls reach the later connection")
	testkit.Pass(6 * time.Second) // longer than a router takes silence for
	proxy.Heal()
	soon(t, func() bool { return !old.Open() }, "the old connection is closed")
	if code := old.Ended(); code != 4409 {
		t.Errorf("the old connection closed with %d", code)
	}
	stop()
	l.Check(t, "HOLDER_LOST", "NODE_DISCONNECTED")
	if !later.Open() || !lists(t, c, "u", "n") {
		t.Error("the later connection is not there")
	}
	for i, g := range c.Gateways {
		if got := cluster.Unary(t.Context(), g, call("u", "n")); got.Reason != "" || got.Err != nil {
			t.Errorf("gateway %d: %v", i, got)
		}
	}
}
