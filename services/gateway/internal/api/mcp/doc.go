// Package mcp is the front door for MCP clients: /mcp, whose tools are those of the user's live devices (docs/protocols/mcp.md).
//
// Both eras of the protocol are served on one path, by every pod alike. What a client's next request needs is in that request:
// sessions of the older revisions are sealed into their ids (package session), and what has to reach another pod, such as the
// cancellation of a call that came in there, goes over the bus (package relay).
//
// The way of a request: [API] checks who asks and what the transport demands (package wire), a method is found by its name, and what
// it answers is written by reply, as JSON, or as an event stream once something has to leave before the end. The tools are those
// of package catalogue, whose sources are the devices, and others that [Config] names.
package mcp
