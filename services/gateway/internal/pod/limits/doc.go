// Package limits keeps one user from using up what all share (docs/architecture.md#limits).
//
// A limit holds for a user in the whole cluster, and costs a call only a look at the pod's own memory. Rates (calls, connects,
// bytes) are token buckets. Each pod has a bucket of the whole size for each active user, and tells the node-registry what was
// taken once that is a sixteenth of the bucket. The registry keeps the bucket that counts, in Redis, and answers with what is
// left in it. If that is less, the pod's bucket is lowered to it, below zero where the pods together took too much. So several
// pods may exceed the limit together for a moment, but not in the long run. Places (web sockets, event streams) are leased: a
// pod gives a sixteenth of them by itself, and asks the registry before it gives more. A pod that falls silent loses its
// leases after 10 s.
//
// While the registry or Redis is away, each pod applies the whole limit by itself: users who keep to it notice nothing, and a
// user who does not gets at most the limit of each pod.
//
// What the package promises:
//
//   - Only a request for a place waits, and no longer than a question to the registry takes.
//   - What was refused was not taken: a client that waits as long as it was told gets in.
//   - Accounts of users who are gone are forgotten after a minute.
//   - A limit of 0 is none. A nil *Limiter has no limits, a nil *Account belongs to nobody.
package limits
