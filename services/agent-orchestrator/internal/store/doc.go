// Package store keeps what agents did: sessions, runs, messages, calls, events, approvals and saved tools, in PostgreSQL or
// in SQLite, by one code path. The tables are described in migrations.
//
// What the package promises:
//
//   - One run at a time per session: it is begun, resumed or adopted by one conditional change of one row, whichever pods
//     race for it. The winner holds a [Lease], and every later write names it: a pod that lost its lease, because it was
//     paused or cut off, can change nothing any more ([ErrLeaseLost]).
//   - A [Change] is written whole or not at all. Once Commit has returned, it survives the pod.
//   - Events of a session are numbered from 1 without gaps; a lease's holder numbers them.
//   - A session belongs to the user in its [Ref]. Another user's session with the same id is another session.
//   - Leases go by the clock of the database, never by a pod's.
//   - If the connection breaks before a write is answered, the write is looked up by the name of its change, and repeated
//     only if it is not there: a restart of the database loses nothing and doubles nothing.
//   - Sessions, events and idempotency keys are kept until the session is deleted: nothing expires.
//
// On PostgreSQL a transaction is one round trip: its statements are sent together, and all fail if the one that must change
// a row changes none. Changes of several runs that arrive while others are written share a transaction; each still succeeds
// or fails by itself. In SQLite, which several processes may share, a commit survives the end of the process at once, and
// the end of the machine from the next checkpoint of its log on.
package store
