// Package loop is the agent's loop with nothing around it: ask the model, stream its answer, run its calls, ask again.
//
// It asks through the same library as the product, on connections that it reuses, and is what many an agent is: no
// sessions, nothing kept, no leases, budgets, approvals, time limits or second tries. [Agent] puts it behind the same RPC
// as the product, so that what lies between a caller and the loop is the same on both sides of a comparison.
package loop
