// Package toolbox is ToolboxService: the MCP servers and OAuth grants that a user has saved, and trying them
// (docs/protocols/zeus-agents.md#saved-tools).
//
// What it promises:
//
//   - Secrets are written and never read back: an answer only names those that are set. They are stored encrypted, bound to
//     their user and tool. Keys, tokens, and the values of headers and environment variables are secrets. Addresses, commands
//     and arguments are encrypted too, since some servers take their keys there: users see them with what may be a key
//     removed, and may send them back in that form.
//   - For a user, another user's tool does not exist.
//   - A tool is checked before it is saved, and again by each run; the error names the wrong field.
//   - A list of tools waits 2 s for servers, and is there without those that are slow or away.
//   - A server that cannot be reached is a result of ValidateMcp, not an error.
package toolbox
