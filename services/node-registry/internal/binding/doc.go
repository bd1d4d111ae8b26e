// Package binding decides which node a call goes to (docs/architecture.md#which-node).
//
//   - A session that is bound goes to its node, connected or not: the caller then hears that it is not connected.
//   - Where a type is asked for and the bound node is known to be of the other, the session counts as unbound for that
//     type, and stays bound as it is.
//   - An unbound session is bound to the preferred node, if that is connected, else to the only node that can be
//     selected. With several to select from, somebody has to choose.
//   - Without a session it is the preferred node, if connected, else the first connected one that can be selected.
//
// A node that reports itself offline cannot be selected, but can be preferred: to prefer a node is to name it. However many
// replicas decide at once, a session has one node.
package binding
