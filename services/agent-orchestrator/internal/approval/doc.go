// Package approval decides which calls run, ask a person or are refused, and whether what a person decided fits what was
// asked. It does no I/O (docs/agent-runs.md#approvals).
//
// What the package promises:
//
//   - There is one decision, [Policy.Decide], for every call in every mode of a run, those of sub-agents included.
//   - A request can make a tool ask, and never keeps one from asking.
//   - That a tool is allowed says nothing of another by its name, nor of what it becomes: [Entry].
//   - What a server says of its tools makes calls ask; that it keeps one from asking takes a user who trusts it.
//   - What runs is what was shown: a call's [Digest] covers session, call, tool, arguments, and node and device or the
//     tool's owner, and two different calls have different ones.
//   - Decisions are taken whole or not at all: [Check] names what is wrong with one of them, and then nothing is decided.
//   - That time ran out is never recorded as a person's no.
package approval
