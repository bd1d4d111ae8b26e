// Package embedded runs a whole cluster in this process: one node-registry, any number of gateways and of
// agent-orchestrators, and, where no addresses of others are given, NATS, Redis, a database and a language model. It is what
// `hecaton up` starts, and what tests start.
//
// What the package promises:
//
//   - What the cluster keeps is in one directory ([Options.DataDir]), which no other cluster uses meanwhile.
//   - The pods are those of every other cluster: they meet over gRPC, NATS and Redis only, on real ports.
//   - [Start] returns once every pod is ready; where one cannot be, the error names it, and nothing is left running.
//   - [Cluster.Stop] drains the gateways, all at once since there is nowhere else to go, lets calls in flight finish, and
//     returns when every goroutine has ended.
//   - A pod that fails by itself stops the cluster ([Cluster.Done]): half a cluster would only confuse.
package embedded
