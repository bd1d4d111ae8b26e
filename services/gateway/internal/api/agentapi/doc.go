// Package agentapi is the public face of agents: /api/agent, /api/tools and /api/workspace (docs/protocols/zeus-agents.md;
// docs/architecture.md#agents-at-the-edge).
//
// It only translates. Runs live in the agent-orchestrators, each of which answers every request; the user of a request is
// the one that the gateway authenticated, never one that the request names. What the package promises:
//
//   - A run's events reach the client in order, each once, with their numbers, as server-sent events. Where the
//     orchestrator that sent them is lost, another goes on with the same stream to the client; only where none can be
//     reached for a minute does the stream end before the run.
//   - A run is started at most once by one request, and decisions are handed in at most once, however often the gateway
//     has to ask.
//   - Everything that is refused is refused with application/problem+json, before a stream begins.
//   - A client that does not read is disconnected. A run goes on when that happens, when the gateway drains and when the client
//     leaves, unless the client asked for its run to be cancelled when it leaves.
//   - The contents of requests and events are never logged.
//
// All that neither streams nor is raw bytes comes from the protos by grpc-gateway.
package agentapi
