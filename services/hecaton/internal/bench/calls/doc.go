// Package calls makes the calls of a load, by REST or by gRPC, and says how each ended for its caller.
//
// With a rate the load is open: the nth call is meant to begin at its time, whatever became of those before, and its
// latency counts from then, so that a cluster that stands still is not asked less, and does not look better for it
// (coordinated omission). Without one it is closed: each caller makes its next call when the one before is over.
//
// A call whose attempt was not delivered is tried again, for as long as the callers' patience lasts. Nothing else is: an
// attempt whose outcome is unknown is the call's end.
package calls
