// Package agent runs agents: it asks the model, runs the calls of its answers, waits for people, and goes on where another
// pod left off (docs/agent-runs.md).
//
// What the package promises:
//
//   - The state of a run is its conversation, those of its sub-agents, and the calls of each one's last answer. All of it is
//     in the [Journal]: any pod goes on with it, and a run that waits for a person is in no pod's memory.
//   - Nothing is shown before it is stored. That a call starts is stored before it is sent; a call that had started when its
//     pod died is reported to the agent as one whose outcome is unknown, and never run again.
//   - If one call of an answer must be decided by a person, none of that answer's calls runs before. What then runs is
//     what was shown, where it was shown.
//   - A run ends with exactly one `complete`. Tools' errors never end one.
//   - Prompts, arguments, results and keys are in no log, no metric and no error of this package.
//   - A tool's name means the same tool from its first call to the run's end; no source can have another's. What nodes and
//     servers say is in no system prompt, and what the model is told of tools is bounded.
//
// The parts, each with its rules about goroutines at its type:
//
//   - [Engine]: this pod's runs. It begins and resumes them (invoke.go, resume.go), and its leaseKeeper renews their leases and
//     adopts runs of pods that are gone. A runTable has the runs, places counts them against the limits.
//   - run: one run. It looks at the state and has the parts below do the next thing; ending ends it.
//   - turn: plans what comes next. A requestBuilder makes the request to the model (package prompt) out of the conversation and
//     the tools (toolset, package catalogue), and the gate decides which of the answer's calls run, ask or are refused.
//   - executor: calls tools. A subAgent is the tool `task`: turns and executors over a conversation of its own.
//   - telling: a conversation collects what happened in a batch, an answerStream what the model is writing, and package journal
//     writes and publishes both.
//
// One goroutine owns each run of this pod; [Engine.Stop] waits for all of them. Sub-agents have goroutines of their own, for
// which the run's waits. While an answer streams, another goroutine writes and publishes what has come.
package agent
