package hub

import (
	"time"

	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/conn"
)

// Socket is what a pod needs of a client's connection, as *[conn.Conn] has it. All methods may be called from anywhere and
// none of them blocks.
type Socket interface {
	// Send queues a frame. The error says that the connection is closing and the frame was not written.
	Send(frame []byte, note conn.Note) error
	// Close begins to end the connection, for the first reason that it is given.
	Close(conn.Reason)
	// Reason is why the connection ends or ended; [conn.Open] before that.
	Reason() conn.Reason
	// Gone reports whether the client has hung up, also where nobody has read that yet.
	Gone() bool
	// LastSeen is when the client last sent anything.
	LastSeen() time.Time
	// EndIfOver closes the connection where its token has expired, and reports whether it has.
	EndIfOver(now time.Time) bool
	// Ends is when the connection's token ends; the zero time stands for never.
	Ends() time.Time
	// Queued is how many bytes wait to be written.
	Queued() int
}
