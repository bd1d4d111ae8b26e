package agent_test

import (
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/model/modeltest"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

func TestARunCallsAToolOfANodeOnAnotherGateway(t *testing.T) {
	t.Parallel()
	cluster.EachStorage(t, func(t *testing.T, database string) {
		model := modeltest.New(t)
		model.Script(modeltest.Say("Let me ", "click.").Then(modeltest.Call("click", `{"n":1}`)), modeltest.Say("Done", "."))
		c := cluster.Start(t, cluster.Options{Orchestrators: 2, Paired: true, Database: database, Model: model.URL()})
		ledger := &cluster.Ledger{}
		node := c.Gateways[0].Extension(t, "ana", "chrome")
		node.Register(`"available_tools":["click"]`)
		node.Serve(ledger.See)

		c.Gateways[1].RunEverything(t, "ana")
		run := c.Gateways[1].Invoke(t, "ana", `{"message":"Click once."}`)
		if e := run.Until("tool_call"); e.ToolName != "click" {
			t.Error(e.Data)
		}
		if e := run.Until("tool_call_result"); e.Result != "1" {
			t.Error(e.Data)
		}
		if e := run.Complete("stop"); e.Content != "Done." {
			t.Error(e.Data)
		}
		if got := cluster.Said(run.Heard); got != "Let me click.Done." {
			t.Errorf("it said %q", got)
		}
		ledger.Once(t, 1)

		r := c.Gateways[0].Get(t, "/api/agent/sessions/"+run.Session+"/events?follow=false", "ana")
		if r.Status != 200 || r.Raw != run.Raw() {
			t.Errorf("kept is\n%s\nheard was\n%s", r.Raw, run.Raw())
		}
	})
}

func TestAnOfflineModelRunsWithoutAKey(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Orchestrators: 2, OrchestratorProcesses: true})
	node := c.Gateways[0].Desktop(t, "ana", "desk")
	node.Register(`"available_tools":["screenshot"]`)
	node.Serve(func(cluster.ToolCall) string { return cluster.Text("a picture") })
	run := c.Gateways[1].Invoke(t, "ana", `{"message":"take a screenshot"}`)
	run.Until("tool_call_result")
	run.Complete("stop")
}
