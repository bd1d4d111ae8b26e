// Package mcpstdio lets a client that only starts programs use the MCP endpoint of a gateway: JSON-RPC messages, one a line, on one
// side, streamable HTTP on the other.
//
// Messages pass as they are, in both eras of the protocol. What HTTP has besides is added and taken away here: headers, the id of a
// session, the stream of a session's notifications, the end of a request whose client gives it up. When a gateway goes away:
//
//   - what was never sent is sent again, for [patience];
//   - what only reads is asked again, though it was sent;
//   - a session that the cluster no longer knows is begun anew, and the request, which was refused, is sent in the new one;
//   - a tool that may have run is not called again: its result says so, in words that a model can act on.
package mcpstdio
