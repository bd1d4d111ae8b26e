package faults_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/security/access"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// Presence is in a Redis Cluster of three masters, of which one is killed: calls to named nodes go on all the time, and once its replica has
// taken over everything works, for the users of every master.
func TestARedisClusterLosesAMaster(t *testing.T) {
	t.Parallel()
	store := testkit.NewRedisCluster(t)
	c := cluster.Start(t, cluster.Options{Registries: 2, RedisURL: store.URLFor(access.NodeRegistry)})
	const users = 12 // some at each master
	user := func(n int) string { return fmt.Sprint("user", n) }
	var nodes []*cluster.Client
	for n := range users {
		nodes = append(nodes, named(t, c.Gateways[n%2], user(n), "n", user(n)))
	}
	works := func(want ...string) func() bool {
		return func() bool {
			for n := range users {
				session := &toolv1.Call{UserId: user(n), SessionId: "s", ToolName: "click"}
				if !lists(t, c, user(n), want...) || !reaches(t, c, session, user(n)) {
					return false
				}
			}
			return true
		}
	}
	soon(t, works("n"), "every user's node is listed, and found by a session")
	l := &cluster.Ledger{UserOf: func(n int) string { return user(n % users) }, Node: "load"}
	for n := range users {
		load := c.Gateways[n%2].Extension(t, user(n), "load")
		load.Silent()
		load.Serve(l.See)
	}
	stop := l.Load(t.Context(), 4, func(n, attempt int) (cluster.Way, *cluster.Gateway) {
		return cluster.Ways[n%len(cluster.Ways)], c.Gateways[(n/len(cluster.Ways)+attempt)%2]
	})
	began := time.Now()
	store.KillMaster(0)
	soon(t, func() bool { return store.TakenOver(t.Context(), 0) }, "its replica takes over")
	testkit.Eventually(t, 20*time.Second, works("n", "load"), "everything works again")
	t.Logf("everything works again after %v", time.Since(began).Round(time.Millisecond))
	for n := range users {
		nodes = append(nodes, named(t, c.Gateways[(n+1)%2], user(n), "new", user(n)))
	}
	soon(t, works("n", "load", "new"), "new nodes are listed")
	stop()
	l.Check(t) // calls that name their node did not notice
	for _, n := range nodes {
		if !n.Open() {
			t.Errorf("a node was closed with %d", n.Ended())
		}
	}
}
