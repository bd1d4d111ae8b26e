// Package node is the Go SDK for nodes: with it a program offers tools on its user's machine to that user's agents.
//
// A [Node] is made with [New], given its tools with [Node.Handle], and lives for as long as [Node.Run] runs. It speaks
// the protocol of docs/protocols/zeus-nodes.md and nothing that another gateway for it would not understand.
//
// What the package promises:
//
//   - A call is executed at most once. Ids are remembered across reconnects, so that a frame that comes twice is refused.
//   - An answer goes out on the connection its call came on, or not at all: when that connection is gone the caller has
//     been told that the outcome is unknown, and the answer is dropped, with a line in the log.
//   - At most MaxConcurrentTasks handlers run at once; up to 64 more calls wait, the rest are refused as busy.
//   - A handler's context ends when its caller cancels, when [Node.Run] is asked to stop, and one minute after the call's
//     connection was lost: no caller of a call without a deadline of its own would still be waiting.
//   - A handler that panics fails its own call only.
//   - A lost connection is dialled again with full-jitter backoff for as long as that can help. What another attempt cannot
//     change ends [Node.Run] with a typed error: [ErrMissingID], [ErrNotAllowed], [ErrTooManyNodes], [ErrSuperseded],
//     [RegisterError]. A node that is superseded within a minute after it gave up an attempt connects once more: that
//     attempt, which a busy gateway served late, may be what superseded it.
//   - A connection outlives the token that it was opened with: the node asks for a new one and shows it in time. Without a
//     new one the gateway closes the connection; then the next attempt needs a valid token, or Run ends with
//     [ErrNotAllowed].
//   - [Node.Run] returns after its last handler has, so no goroutine outlives it. A handler that ignores its context
//     keeps it waiting.
package node
