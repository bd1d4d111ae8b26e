// Package router finds the way to a node and waits for what becomes of the call.
//
// A node of this pod is called directly. Any other is reached through the bus, whose interest graph is the routing
// table: nothing is looked up, and a node that nobody holds is refused in one round trip. While a call is open its
// holder speaks at least every 2 s; after 5 s of silence the holder is lost, and the caller hears so long before the
// call's own deadline. Before that, where nobody has said that it has the call, all pods are asked whether they have seen it
// (package witness); if none has, it was not delivered.
//
// Every call ends exactly once: answered, not delivered, or with an unknown outcome (package errs). Nothing is tried
// again here.
package router
