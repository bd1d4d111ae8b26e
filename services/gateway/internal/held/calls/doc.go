// Package calls keeps the calls at one node: those that wait for a place, those that run, and how each ends.
//
// A [Table] belongs to one connection. It lets at most max_concurrent_tasks calls run, queues the rest in order of
// arrival up to [MaxWaiting], and tells each call's [Sink] exactly once how it ended. It never sends a call twice, and
// what it says of a call that was not answered is true: a call whose bytes never began to be written was not delivered,
// any other has an unknown outcome.
package calls
