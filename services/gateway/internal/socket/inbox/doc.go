// Package inbox reads a socket into a buffer that the connection has only while there is something in it. A connection that waits, as most
// do, holds none; one that is busy reads as much as has come by one system call.
//
// An Inbox belongs to one goroutine at a time.
package inbox
