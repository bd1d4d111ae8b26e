// Package agents has the tools of /mcp that are no device's own: `run_agent`, the tools of the MCP servers and OAuth connections that
// the user has saved, and the well-known tools of desktops under their plain names. They are there for clients whose URL says
// ?include=agent and whose token may run agents.
//
// What the package promises:
//
//   - A run goes on where its client's time is over, and can be waited for again; it ends where the client cancels the call.
//   - What a run wants to have approved is decided by the person at the client, never by the caller's model: by a question to the
//     person, or where the user approves things otherwise. A call's arguments cannot approve anything.
package agents
