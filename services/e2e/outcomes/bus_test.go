package outcomes_test

import (
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

func TestWithoutTheBusOtherPodsNodesAreRefusedAtOnceAndOwnOnesWork(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	named(t, c.Gateways[0], "u", "n")
	c.NATS.Stop()
	for i, g := range c.Gateways {
		testkit.Eventually(t, 10*time.Second, func() bool { return !g.Ready(t) }, "gateway %d is not ready", i)
	}
	everyWay(t, c.Gateways[1:], call("u", "n", time.Minute), func(way string, got cluster.Ended) {
		expect(t, way, got, "BUS_UNAVAILABLE")
		if got.Took > roundTrip {
			t.Errorf("%s: took %v", way, got.Took)
		}
	})
	everyWay(t, c.Gateways[:1], call("u", "n", time.Minute), func(way string, got cluster.Ended) { answered(t, way, got) })

	// A node that connects meanwhile is held by its pod, and found by the others once the bus is back.
	begun := time.Now()
	named(t, c.Gateways[1], "u", "late")
	if took := time.Since(begun); took > 1900*time.Millisecond { // what the pod would wait for the bus
		t.Errorf("connecting took %v", took)
	}
	everyWay(t, c.Gateways[1:], call("u", "late", time.Minute), func(way string, got cluster.Ended) { answered(t, way, got) })

	c.NATS.Start()
	for i, g := range c.Gateways {
		testkit.Eventually(t, 10*time.Second, func() bool { return g.Ready(t) }, "gateway %d is ready", i)
	}
	for _, id := range []string{"n", "late"} {
		everyWay(t, c.Gateways, call("u", id, time.Minute), func(way string, got cluster.Ended) { answered(t, id+", "+way, got) })
	}
}
