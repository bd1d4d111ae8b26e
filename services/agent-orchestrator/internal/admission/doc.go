// Package admission decides about single calls of MCP clients, which are calls of somebody's model: by the function that decides about
// the calls of runs (package approval), with the user's settings. It keeps the calls that wait for their user, and what was decided.
//
// An approval is for one call: this user, this tool, these arguments, and this connection of the device or this owner of the tool
// (docs/protocols/mcp.md#approvals). It is used up by the call that it lets run, whichever pods take part, and expires.
package admission
