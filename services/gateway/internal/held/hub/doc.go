// Package hub is what this pod holds right now: connected nodes, by user, and other clients, by user.
//
// It is the pod's half of the routing table: a call whose node is here never leaves the pod. Everything is found by user
// first, and removed by identity, never by name, so that a late goodbye cannot evict a newcomer.
package hub
