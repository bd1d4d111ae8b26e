// Package limits keeps one user from using up what all share (docs/architecture.md#limits).
//
// A limit holds for a user in the whole cluster, and costs a call nothing but a look at the pod's own memory. Rates (calls,
// connects, bytes) are token buckets: each pod has one for each user that is about, of the whole size, and tells the
// node-registry what was taken from it once that is a sixteenth of it. The registry keeps the one bucket that counts, in
// Redis, and answers with what is left; where that is less, the pod's bucket is emptied to it, below nothing where the pods
// together took too much. So for a moment several pods may let through what one may, and in the long run never. Places (web
// sockets, event streams) are leased: a pod gives a sixteenth of them by itself, and asks for the rest before it gives them.
// A pod that is heard of no more loses its leases after 10 s.
//
// While the registry or Redis is away each pod goes on by itself, with the whole limit: users who keep to it notice nothing,
// and who does not gets as many times as much as there are pods.
//
// What the package promises:
//
//   - Nobody waits but for a place, and for that no longer than a question to the registry takes.
//   - What was refused was not taken: who is told to wait and does finds a place.
//   - Accounts of users who are gone are forgotten after a minute.
//   - A limit of 0 is none. A nil *Limiter has no limits, a nil *Account belongs to nobody.
package limits
