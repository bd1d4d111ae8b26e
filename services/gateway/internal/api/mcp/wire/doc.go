// Package wire reads and writes the messages of MCP's streamable HTTP transport (docs/protocols/mcp.md): JSON-RPC, the headers
// beside it, and its errors. It knows no method.
//
// Messages stay the bytes that came. What is read of them are slices of those, and what is written is put together from such
// slices: a picture in a result is never decoded.
package wire
