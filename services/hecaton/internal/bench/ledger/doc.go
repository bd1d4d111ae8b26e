// Package ledger is kept on both ends of numbered calls: what callers asked and heard, and what nodes saw. Reconciled, it
// says whether the cluster kept what it promises of every call (docs/architecture.md#what-every-call-promises):
//
//   - no call is executed twice, however often its caller had to try;
//   - one that was answered was executed once, by the node that it was for, and the answer is its own;
//   - one that was not delivered was never executed;
//   - one whose outcome is unknown was executed once or not at all.
//
// An entry takes some twenty bytes, so that hours of load fit into memory.
package ledger
