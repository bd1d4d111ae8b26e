// Package mcp lets agents use the tools of MCP servers: those named in a request and those that the user has saved and
// enabled (docs/protocols/zeus-agents.md#tool-layers).
//
// What it promises:
//
//   - Servers are connected in parallel, within 10 s. A run starts without one that is down, and says so.
//   - A call is sent once. It is sent again only if it is certain that the server did not run it: the session was closed, or
//     the server had forgotten it, before it took the call.
//   - The error of a call that was not answered says whether it may have run. The next call opens a new connection.
//   - What a server sends is bounded: 32 MiB for an answer, 64 MiB and 64 pages for a list, 512 tools and as many prompts.
//   - A key is sent to the server's own origin and nowhere else.
//   - Saved servers keep their connections while they are used, and some minutes longer. A connection belongs to one user and one
//     configuration, with its keys. Once that is changed or removed, no call begins on it, and it ends with the last that has begun.
//   - Definitions are remembered for as long as the server allows, ten minutes at most, and until it says that they changed.
//   - Servers over stdio are processes, which the operator has to allow. They end with their connection: that of a request's server
//     with the run. Of this process's environment they see PATH and HOME, beside the variables that were given to them.
//   - Requests of a server to us (sampling, elicitation, roots) are declined. A run has the tools that were listed when it began.
package mcp
