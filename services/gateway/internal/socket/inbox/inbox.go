package inbox

import (
	"errors"
	"net"
	"sync"
	"syscall"
)

// Size is how much is read at once.
const Size = 4 << 10

type block [Size]byte

var blocks = sync.Pool{New: func() any { return new(block) }}

// Inbox is what has been read from a socket and belongs to nobody yet.
type Inbox struct {
	conn   net.Conn
	raw    syscall.RawConn
	reader func(fd uintptr) bool // made once

	block      *block
	begin, end int
	failure    error
}

// New returns an empty inbox of a connection that has a socket.
func New(c net.Conn) (*Inbox, error) {
	socket, ok := c.(syscall.Conn)
	if !ok {
		return nil, errors.New("inbox: the connection has no socket")
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return nil, err
	}
	in := &Inbox{conn: c, raw: raw}
	in.reader = in.readNow
	return in, nil
}

// Len returns how many bytes there are.
func (in *Inbox) Len() int { return in.end - in.begin }

// Bytes are valid until the next call.
func (in *Inbox) Bytes() []byte {
	if in.block == nil {
		return nil
	}
	return in.block[in.begin:in.end]
}

// room returns where more can be read to.
func (in *Inbox) room() []byte {
	if in.block == nil {
		in.block = blocks.Get().(*block)
	}
	if in.end == Size && in.begin > 0 {
		in.end = copy(in.block[:], in.Bytes())
		in.begin = 0
	}
	return in.block[in.end:]
}

// Skip takes out n bytes, or all, and returns how many.
func (in *Inbox) Skip(n int) int {
	n = min(n, in.Len())
	if in.begin += n; in.begin == in.end {
		in.release()
	}
	return n
}

// Take takes out what p has room for.
func (in *Inbox) Take(p []byte) int { return in.Skip(copy(p, in.Bytes())) }

// Read takes out what there is, or waits. Reads of [Size] and more go past the buffer.
func (in *Inbox) Read(p []byte) (int, error) {
	if in.Len() == 0 {
		if len(p) >= Size {
			return in.conn.Read(p)
		}
		if err := in.Fill(); err != nil {
			return 0, err
		}
	}
	return in.Take(p), nil
}

// release gives back a block that is empty.
func (in *Inbox) release() {
	if in.block != nil && in.begin == in.end {
		blocks.Put(in.block)
		in.block, in.begin, in.end = nil, 0, 0
	}
}
