// Package mcp lets agents use the tools of MCP servers: those that a request brings along and those that the user has saved
// and enabled (docs/protocols/zeus-agents.md#tool-layers).
//
// What it promises:
//
//   - Servers are connected in parallel, within 10 s. A run starts without one that is down, and says so.
//   - A call is sent at most once. It is sent again only where it is certain that the server did not run it: the session
//     was found closed or forgotten before the call was taken.
//   - A call that was not answered says whether it may have run. The next call connects anew.
//   - What a server sends is bounded: 32 MiB for an answer, 512 tools.
//   - A key is sent to the server's own origin and nowhere else.
//   - Processes of servers over stdio, which the operator has to allow, end with the run, and see PATH, HOME and the
//     variables that were given to them; nothing else of this process's environment.
//   - What a server asks of us (sampling, elicitation, roots) is declined, and its list of tools is that of the run's start.
package mcp
