//go:build integration

package containers_test

import (
	"strings"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/model/modeltest"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
	"github.com/hecaton-dev/hecaton/services/e2e/containers"
)

// A database that hangs, or is stopped, for longer than a lease lasts holds runs up: each comes to its end, and no call runs
// twice.
func TestRunsGoOnAfterOutagesOfTheirDatabase(t *testing.T) {
	t.Parallel()
	postgres, model := containers.Postgres(t), modeltest.New(t)
	model.Otherwise(modeltest.Func(func(r modeltest.Request) modeltest.Answer {
		switch strings.Count(string(r.Body), `"role":"tool"`) {
		case 0:
			return modeltest.Call("click", `{"n":1}`)
		case 1:
			return modeltest.Call("click", `{"n":2}`)
		}
		return modeltest.Say("Done.")
	}))
	c := cluster.Start(t, cluster.Options{Orchestrators: 2, Database: postgres.URL() + "/postgres", Model: model.URL()})
	for user, outage := range map[string]struct{ from, to func() }{
		"hangs":   {postgres.Pause, postgres.Resume},
		"stopped": {postgres.Stop, postgres.Start},
	} {
		ledger := &cluster.Ledger{User: user}
		c.Gateways[0].RunEverything(t, user)
		node := c.Gateways[0].Extension(t, user, "chrome")
		node.Register(`"available_tools":["click"]`)
		run := c.Gateways[1].Invoke(t, user, map[string]any{"message": "Click."})
		call := node.Call()
		result := ledger.See(call)

		outage.from()
		node.Answer(call, result)
		testkit.Pass(cluster.LeaseTTL + time.Second)
		outage.to()

		node.Serve(ledger.See)
		run.Complete("stop")
		ledger.Once(t, 1, 2)
	}
}
