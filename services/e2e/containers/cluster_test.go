//go:build integration

package containers_test

import (
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
	"github.com/hecaton-dev/hecaton/services/e2e/containers"
)

// The servers as they are deployed: other processes, other builds, behind a port of Docker's.
func TestACallCrossesPodsThroughOutagesOfItsContainers(t *testing.T) {
	t.Parallel()
	redis, nats := containers.Redis(t), containers.NATS(t)
	c := cluster.Start(t, cluster.Options{Registries: 2, RedisURL: redis.URL(), NATSURL: nats.URL()})
	l := &cluster.Ledger{User: "u", Node: "n"}
	n := c.Gateways[0].Extension(t, "u", "n")
	n.Silent()
	n.Serve(l.See)
	stop := l.Load(t.Context(), 4, func(i, attempt int) (cluster.Way, *cluster.Gateway) {
		return cluster.Ways[i%4], c.Gateways[(i/4+attempt)%2]
	})
	works := func(what string) {
		t.Helper()
		before := l.Answered()
		testkit.Eventually(t, 10*time.Second, func() bool { return l.Answered() > before+50 }, "calls by name work %s", what)
	}
	found := func(what string) {
		t.Helper()
		testkit.Eventually(t, 10*time.Second, func() bool {
			for _, g := range c.Gateways {
				list, err := g.Tools.ListNodes(t.Context(), &toolv1.ListNodesRequest{UserId: "u"})
				if err != nil || len(list.GetNodes()) != 1 {
					return false
				}
				any := &toolv1.Call{UserId: "u", ToolName: "click", Timeout: durationpb.New(5 * time.Second)}
				if got := cluster.Unary(t.Context(), g, any); got.Reason != "" || got.Err != nil {
					return false
				}
			}
			return true
		}, "the node is listed, and found without its name, %s", what)
	}
	works("at first")
	found("at first")

	redis.Pause()
	works("while Redis hangs")
	redis.Resume()
	found("after Redis hung")

	redis.Stop()
	works("while Redis is stopped")
	redis.Start()
	found("after Redis came back empty")

	nats.Stop()
	nats.Start()
	works("after NATS restarted")
	found("after NATS restarted")

	stop()
	l.Check(t, "HOLDER_LOST") // at worst, for what was on the bus when that went
	if !n.Open() {
		t.Errorf("the node's socket was closed with %d", n.Ended())
	}
}
