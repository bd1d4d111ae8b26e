// Package mcp lets agents use the tools of MCP servers: those named in a request and those that the user has saved and
// enabled (docs/protocols/zeus-agents.md#tool-layers).
//
// What it promises:
//
//   - Servers are connected in parallel, within 10 s. A run starts without one that is down, and says so.
//   - A call is sent once. It is sent again only if it is certain that the server did not run it: the session was closed, or
//     the server had forgotten it, before it took the call.
//   - The error of a call that was not answered says whether it may have run. The next call opens a new connection.
//   - What a server sends is bounded: 32 MiB for an answer, 512 tools.
//   - A key is sent to the server's own origin and nowhere else.
//   - Servers over stdio are processes, which the operator has to allow. They end with the run. Of this process's environment
//     they see PATH and HOME, beside the variables that were given to them.
//   - Requests of a server to us (sampling, elicitation, roots) are declined. Its tools are those that it listed when the run
//     began.
package mcp
