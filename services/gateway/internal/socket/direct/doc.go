// Package direct writes to sockets that have room, which most have, without what a write that may have to wait needs: a deadline.
package direct
