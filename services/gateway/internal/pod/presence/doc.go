// Package presence is the gateway's side of the node registry: registrations and farewells in batches, everything else
// one RPC each.
//
// Batches need no timer: while one RPC is on its way the next registrations gather, so a single node registers at once
// and ten thousand that come back together share a few dozen RPCs.
package presence
