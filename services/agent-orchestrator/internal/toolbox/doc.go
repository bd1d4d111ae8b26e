// Package toolbox is ToolboxService: the MCP servers and OAuth grants that a user has saved, and trying them
// (docs/protocols/zeus-agents.md#saved-tools).
//
// What it promises:
//
//   - A secret goes in and never comes out: an answer names those that are there. They are kept sealed, bound to their user
//     and tool. Keys, tokens, the values of headers and those of environment variables are secrets. So are an address, a command
//     and its arguments, since servers want their keys there, too: their user is shown them without what may be a key, and may
//     send them back so.
//   - Another user's tool is absent.
//   - What is saved has passed the checks that a run makes again: a wrong field is named.
//   - A server that cannot be reached is an answer of ValidateMcp, not an error of ours.
package toolbox
