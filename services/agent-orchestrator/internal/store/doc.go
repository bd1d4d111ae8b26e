// Package store keeps what agents did: sessions, runs, messages, calls, events, approvals and saved tools, in PostgreSQL or
// in SQLite, by one code path.
//
// What the package promises:
//
//   - One run at a time per session: it is begun, resumed or adopted by one conditional change of one row, whichever pods
//     race for it. Who wins holds a [Lease], and every later write names it: a pod that lost it, because it was paused or
//     cut off, can change nothing any more ([ErrLeaseLost]).
//   - One [Change] is there whole or not at all. When Commit returns, it survives the pod.
//   - Events of a session are numbered from 1 without gaps; a lease's holder numbers them.
//   - A session belongs to the user in its [Ref]. Another user's session with the same id is another session.
package store
