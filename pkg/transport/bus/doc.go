// Package bus is the cluster's message bus: the subjects of docs/architecture.md over NATS, and messages of any size.
//
// Subjects name users and nodes by escaped tokens, so no id that a client chooses can reach another user's subject. The
// interest graph is the routing table: who subscribes to a node's subject holds that node, and a request that nobody
// can take is refused by the server at once.
//
// A [Conn] never buffers for a cluster that is away: a publish fails at once, and the caller says so to whoever waits.
package bus
