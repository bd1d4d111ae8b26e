package agentfaults_test

import (
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// One thing after the other happens to a cluster under load: orchestrators die and stand still, the database restarts and
// crashes, the bus goes away. All runs come to their end, and no call runs twice.
func TestAgentsOutliveEverything(t *testing.T) {
	t.Parallel()
	server := testkit.OwnPostgres(t)
	w := newFixture(t, cluster.Options{Database: server.URL(), OrchestratorProcesses: true})
	first, second := w.Orchestrators[0], w.Orchestrators[1]
	l := w.newLoad(t, 12)
	for _, happens := range []func(){
		func() { first.Kill(); first.Start() },
		server.Restart,
		func() {
			second.Process.Pause(t)
			testkit.Pass(cluster.LeaseTTL + time.Second)
			second.Process.Continue(t)
		},
		func() { w.NATS.Stop(); w.NATS.Start() },
		func() { second.Kill(); server.Kill(); server.Start(); second.Start() },
		func() { first.Stop(t); first.Start() },
	} {
		l.more(t, 6)
		happens()
	}
	l.more(t, 12)
	l.stop(t)
}
