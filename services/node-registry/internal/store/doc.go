// Package store keeps presence in Redis (docs/architecture.md#redis).
//
// The keys of one user share one slot of a Redis Cluster by the hash tag {user}; <id>, <sid> and user are escaped as in
// NATS subjects ([bus.Token]), so that no id reaches another user's key or breaks the tag.
//
//	hecaton:{user}:nodes          zset     node id → when its lease ends (ms); what is past counts as absent
//	hecaton:{user}:node:<id>      hash     the live connection: info, gateway, epoch, status, tasks, connected, seen
//	hecaton:{user}:epoch:<id>     counter  the node's last epoch; outlives the node by 90 days and tells "seen"
//	hecaton:{user}:session:<sid>  string   the bound node's id
//	hecaton:{user}:tools          hash     "set <digest>" → definitions of tools, packed; "node <id>" → the digest of the node's
//	hecaton:{user}:use            hash     what the user took of the limits, and which gateway holds how many places
//	hecaton:gateway:<id>          hash     what one gateway reported
//
// For expiry, sweeps and lists:
//
//	hecaton:{user}:last           hash     node id → what is known of it without its hash: epoch, connected, info
//	hecaton:{user}:gone           zset     node id → when it went away (ms), for the 16 that went last
//	hecaton:users                 zset     user → when a sweep should look at them next (ms)
//	hecaton:gateways              zset     gateway id → when its report ends (ms); where to look, not what counts
//	hecaton:gateway:<id>:nodes    set      the gateway's connections: where to look when it falls silent, not what counts
//
// The hash of a node vanishes with its lease; "last" is why an expiry can still be announced with the node's name, and
// "gone" is what is listed as offline for a minute. Both, "nodes" and "tools", are forgotten a day after the last sign of life.
//
// What the package promises:
//
//   - A change of several keys is one script, so it happens as a whole or not at all. All keys of a script are declared
//     and in one slot.
//   - The clock is Redis's, never a pod's.
//   - Definitions of tools are there for as long as a node that gave them is remembered, and are sent to the store only when it
//     does not have them.
//   - A batch costs a fixed number of round trips for each 100 items; an item that fails does not fail its neighbours.
//   - An unreachable Redis is an error with reason BUS_UNAVAILABLE within seconds; nothing here retries.
package store
