// Package tooldef has the definitions of nodes' tools: what models are told of them, as tool objects of the Model Context
// Protocol.
//
// A node may give definitions when it registers ([Read]); for a tool without one, [Made] makes one from a table of well-known
// tools (known.json) or from the tool's name. Both the agents' tools and the MCP endpoint show them: [Cache.Offered] is the list
// of one node.
//
// What the package promises:
//
//   - What a node gives is data of a stranger. A [Definition] that [Check] returned is bounded in bytes and depth, has the schema
//     of an object, holds no reference to another document, no mark "x-mcp-header" and no member that MCP does not know, and its
//     texts have no characters that hide or turn text around.
//   - A definition that is refused costs its tool the description, not its place among the node's tools.
//   - The hints of a definition are its node's word. Nobody may decide by them that a call is harmless.
//   - The definitions of one node are named by a digest of what they say ([Set]). Whoever unpacks a set compares the digest.
package tooldef
