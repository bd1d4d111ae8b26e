// Package bench puts a cluster under load and says what became of every call: simulated nodes, callers, runs of agents and
// web clients that do not read, by a plan that follows from a seed, while faults happen to the cluster by a schedule.
//
// What it promises:
//
//   - Both ends keep a ledger, which is reconciled at the end; a bench passes exactly if it reconciles, if every call and run
//     in the time of a fault that is said to be lossless was answered, and if nothing else went wrong.
//   - Only what was not delivered is tried again.
//   - The same seed gives the same users, nodes, calls, payloads, runs and departures.
//   - However it ends, also by Ctrl-C, what a fault broke is mended and the report is written.
package bench
