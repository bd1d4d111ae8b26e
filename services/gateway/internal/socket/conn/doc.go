// Package conn is one WebSocket, whatever its dialect: one reader, one bounded write queue, one reason why it ended.
//
// A connection that is idle costs one small goroutine and about a kilobyte of buffers: the writer runs only while there
// is something to write, net/http's buffers go back when the socket is taken over, and frames are read into pooled
// buffers that exist only while a frame does.
//
// A client that does not read never holds up anybody else: [Conn.Send] only queues, each write has a deadline, and a
// queue over its bound ends the connection.
package conn
