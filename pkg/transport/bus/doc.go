// Package bus is the cluster's message bus: the subjects of docs/architecture.md over NATS, and messages of any size.
//
// Subjects name users and nodes by escaped tokens, so no id that a client chooses can reach another user's subject. The
// interest graph is the routing table: who subscribes to a node's subject holds that node, and the server refuses a request
// at once if nobody is subscribed.
//
// A [Conn] never buffers while the bus is unreachable: a publish fails at once, and the caller reports it.
package bus
