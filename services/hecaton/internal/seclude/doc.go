// Package seclude keeps what a process knows from the programs that it starts, and from others of the same user.
//
// A process's environment as it was started stays readable for as long as it lives, whatever it unsets, and so does its command
// line. [Restart] takes a secret out of both: the same process begins again without it, and reads it from a pipe. [Memory] closes
// its memory to others: no program of the same user can read it, trace it, or have it dumped; on Linux root can, with the
// capability to trace.
package seclude
