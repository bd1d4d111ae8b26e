// Command bench measures a call's way through the cluster beside a bare relay, and agents beside a bare loop, in one run,
// and prints the ratios.
//
//	make bench                            everything, about fourteen minutes
//	make bench BENCHFLAGS=-smoke          a taste in a minute, with figures that prove nothing
//	make bench BENCHFLAGS="-json out.json -profile dir"
//
// Like is compared with like: unary calls and REST with a unary relay, calls on a stream with a relay of streams. The ways
// take turns within each round, so that whatever else the machine does meets all of them. A ratio is the median over the
// rounds of what the ways did in the same round.
//
// Everything stands in a process of its own, the same on both sides: two pods, the NATS server, the simulated nodes, and
// the callers in this one. CPU per call is that of the two pods and of the NATS server, by getrusage; callers and nodes
// are not counted. The registry and Redis run too, but no call passes through them. All of them share the machine.
//
// Agents run on an orchestrator with SQLite and, where there is one, on another with PostgreSQL. The bare loop, which asks
// the same model the same, is a pod as well; time to the first token and many streams are compared with the model itself.
//
// A client of MCP is compared with our other ways, and with the server of MCP's own SDK whose tool does nothing, in one process.
//
// docs/performance.md has figures and what they mean.
package main
