// Package http1 serves the ordinary requests of HTTP/1.1 connections, and hands every other connection to net/http.
//
// net/http costs more than a short call itself: it starts a goroutine for each request that waits for the client to go away, copies
// an answer through three buffers, and moves a deadline five times. This package serves the same [http.Handler] without that:
//
//   - A connection is one goroutine. Buffers belong to it only while there is something in them, so one that waits for its next request,
//     or a stream at rest, has none.
//   - An answer that fits a buffer leaves in one write, with its length. What is longer, or flushed, is written as it comes.
//   - Clients that go away are watched by one goroutine for all (epoll), which cancels the context of the request that is served.
//   - Deadlines touch the socket only where somebody has to wait.
//
// What is ordinary is narrow, so that there is one way to read it: a head of at most 4 KiB whose lines end with CR LF, a common method, a
// path, one Host, at most one Content-Length, no transfer coding. A head that has anything else is not judged here: net/http
// gets the connection with all that has been read, from that request on, and answers, refuses or upgrades as it always does. So WebSockets, chunked
// bodies, Expect, HTTP/1.0, the preface of HTTP/2 and malformed requests are net/http's. The fuzz test compares each head that is read
// here with what [http.ReadRequest] makes of it.
//
// On systems without epoll every connection is handed to net/http.
//
// # Concurrency
//
// The connection's goroutine reads, calls the handler and writes; its handler may write from other goroutines, one at a time, until it
// returns, as with net/http. A connection's mu guards its state and what the watcher needs, the server's mu the set of connections; they
// are never held together, nor while anything is called that waits. [Server.Shutdown] waits for all goroutines.
package http1
