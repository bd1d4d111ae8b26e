// Package stats adds up what the gateways report (docs/protocols/nodes-rest.md#statistics).
//
// The sum is at most a second old, and costs Redis at most about one read a second for each replica, however many ask.
package stats
