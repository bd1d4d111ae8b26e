// Package tasks has the calls of MCP clients that come back for the answer (docs/protocols/mcp.md#tasks). A pod runs those that came in
// at it; the orchestrators keep what is known of them, so that any pod answers, and the answer outlives the pod.
package tasks
