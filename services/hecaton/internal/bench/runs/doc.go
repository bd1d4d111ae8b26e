// Package runs keeps runs of agents going: each asks the model, which must be the offline one, to call a numbered tool of a
// simulated node a few times, and follows the stream of events to its end over as many connections as that takes.
//
// It checks what the API promises of a run: events without a gap whatever breaks in between, one result for each tool call,
// and in the ledger that no call was executed twice. Every few runs a call waits for an approval, which is handed in.
//
// Requests are repeated where that is safe: one that was refused, and one whose answer was lost, since an invoke has a name
// of its own (Idempotency-Key) and a decision is taken once.
package runs
