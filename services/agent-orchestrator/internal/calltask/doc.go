// Package calltask keeps the tasks of MCP clients for the gateways that run them (docs/protocols/mcp.md#tasks): what a call answered
// outlives its gateway, and a call whose gateway is gone is known to be lost.
package calltask
