// Package cluster starts a whole Hecaton cluster inside a test: real pods in this process, a real NATS server and a real
// Redis of the test's own, clients over real sockets. What a test does to one cluster no other test sees.
//
// # Agents
//
// [Options].Orchestrators starts agent-orchestrators as well, on an SQLite file unless a test asks for another database:
//
//	cluster.EachStorage(t, func(t *testing.T, database string) {
//		model := modeltest.New(t)
//		model.Script(modeltest.Call("click", `{"n":1}`), modeltest.Say("Done."))
//		c := cluster.Start(t, cluster.Options{Orchestrators: 2, Database: database, Model: model.URL()})
//		ledger := &cluster.Ledger{User: "ana"}
//		node := c.Gateways[0].Extension(t, "ana", "chrome")
//		node.Register(`"available_tools":["click"]`)
//		node.Serve(ledger.See)
//		run := c.Gateways[1].Invoke(t, "ana", `{"message":"Click."}`)
//		run.Until("tool_call_result")
//		run.Complete("stop")
//		ledger.Once(t, 1)
//	})
//
// Without Model each orchestrator has an offline model, which follows plain commands. A lease lasts [LeaseTTL].
//
// With OrchestratorProcesses an orchestrator can be killed ([Orchestrator.Kill]), stood still ([Process.Pause]) and started
// again where it was, on its database; all can be stopped and started. With Paired gateway i asks orchestrator i, so that a
// test knows who runs what; without, requests go to all of them in turn. GatewayProcesses are gateways that can be killed. A
// package that uses processes runs its tests through [Main].
//
// [Gateway.Invoke], [Gateway.Resume] and [Gateway.Events] open a [Stream], which holds each byte to the format; refusals are
// read with [Gateway.Post] and [Gateway.Get]. [Ledger.See] is a node that takes note of calls with {"n": number}, and
// [Ledger.Once] says whether any ran twice.
package cluster
