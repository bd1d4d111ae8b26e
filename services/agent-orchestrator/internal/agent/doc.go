// Package agent runs agents: it asks the model, runs the calls of its answers, waits for people, and goes on where another
// pod left off (docs/agent-runs.md).
//
// What the package promises:
//
//   - The state of a run is its conversation and the calls of the last answer, and those of its sub-agents, all of it in the
//     [Journal]: any pod goes on with it, and a run that waits for a person is in no pod's memory.
//   - Nothing is shown before it is kept. That a call starts is kept before it is sent; a call that had started when its
//     pod died is reported to the agent as one whose outcome is unknown, and never run again.
//   - If one call of an answer must be decided by a person, none of that answer's calls runs before. What then runs is
//     what was shown, where it was shown.
//   - A run ends with exactly one `complete`. Tools' errors never end one.
//   - Prompts, arguments, results and keys are in no log, no metric and no error of this package.
//   - A tool's name means the same tool from its first call to the run's end; no source can have another's. What nodes and
//     servers say is in no system prompt, and what is told of tools is bounded.
//
// One goroutine owns each run of this pod; [Engine.Stop] waits for all of them. Sub-agents have goroutines of their own, for
// which the run's waits, and each owns its conversation (see thread). While an answer streams, another one keeps and publishes
// what has come (see stream). Pages of all of them are kept one after the other (see ledger).
package agent
