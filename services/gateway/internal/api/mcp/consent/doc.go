// Package consent has the user's approval settings hold for calls of MCP clients (docs/protocols/mcp.md#approvals).
//
// The orchestrators decide, by the function that decides about the calls of runs. What they say of all calls of a user, or of a tool at
// one connection of a device, is remembered, so that most calls ask nobody; it is forgotten when a user's settings change, and asked
// about again every few seconds. A call that needs the person asks at the client, where this can ask, and takes the decision
// from wherever it is made.
package consent
