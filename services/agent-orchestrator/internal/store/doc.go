// Package store keeps what agents did: sessions, runs, messages, calls, events, approvals and saved tools, in PostgreSQL or
// in SQLite, by one code path. The tables are described in migrations.
//
// What the package promises:
//
//   - One run at a time per session: it is begun, resumed or adopted by one conditional change of one row, whichever pods
//     race for it. Who wins holds a [Lease], and every later write names it: a pod that lost it, because it was paused or
//     cut off, can change nothing any more ([ErrLeaseLost]).
//   - One [Change] is there whole or not at all. When Commit returns, it survives the pod.
//   - Events of a session are numbered from 1 without gaps; a lease's holder numbers them.
//   - A session belongs to the user in its [Ref]. Another user's session with the same id is another session.
//   - The clock of leases is the database's, never a pod's.
//   - A write whose answer was lost with its connection is looked up by the name of its change, and written again only
//     where it is not there: a database that restarts loses nothing and doubles nothing.
//   - Sessions, events and idempotency keys are kept until the session is deleted: nothing expires.
//
// On PostgreSQL a transaction is one round trip: its statements are sent at once, and the one that must change a row fails
// the others where it cannot. Changes of several runs that come while others are written share a transaction; each succeeds
// or fails by itself all the same. In SQLite, which several processes may share, a commit survives the process at once, and the
// machine from the next checkpoint of its log on.
package store
