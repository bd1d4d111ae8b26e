// Package lease begins, renews and ends presence, and has every change announced.
//
// A [Keeper] does what gateways ask for; a [Sweeper] ends the leases that nobody renewed. Both promise that a change
// that was made is announced by the replica that made it, also when its caller has given up waiting; nothing is
// announced that did not change.
package lease
