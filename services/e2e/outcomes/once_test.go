package outcomes_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// A node connects and disconnects at two pods, with and without a close frame, under load: it receives no call twice, and
// no caller waits as it would for a pod that died.
func TestANodeNeverReceivesACallTwice(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	l := &cluster.Ledger{User: "u", Node: "n"}
	stop := l.Load(t.Context(), 16, func(n, attempt int) (cluster.Way, *cluster.Gateway) {
		return cluster.Ways[n%4], c.Gateways[(n/4+attempt)%2]
	})
	var old *cluster.Client
	for i := range 60 {
		if old != nil && i%3 == 0 {
			old.Cut()
		}
		n := c.Gateways[rand.IntN(2)].Extension(t, "u", "n")
		n.Serve(l.See)
		if old != nil && i%3 == 1 {
			old.Close()
		}
		old = n
		before, more := l.Answered(), rand.IntN(12)
		testkit.Eventually(t, time.Minute, func() bool { return l.Answered() >= before+more }, "calls are answered")
	}
	stop()
	if reasons := l.Check(t, "NODE_DISCONNECTED"); reasons[""] < 20 {
		t.Errorf("only %d calls were answered", reasons[""])
	}
}
