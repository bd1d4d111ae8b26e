// Package approval decides which calls ask a person, and whether what a person decided fits what was asked. It does no I/O
// (docs/architecture.md, "Approvals").
//
// What the package promises:
//
//   - A request can make a tool ask, and never keeps one from asking: [Policy].
//   - What runs is what was shown: a call's [Digest] covers session, call, tool, arguments, and node and device or the
//     tool's owner, and two different calls have different ones.
//   - Decisions are taken whole or not at all: [Check] names what is wrong with one of them, and then nothing is decided.
//   - That time ran out is never recorded as a person's no.
package approval
