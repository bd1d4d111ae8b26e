package http1

import (
	"errors"
	"io"
	"net/http"
	"sync"

	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/inbox"
)

// body is a request's, of a length that is known.
type body struct {
	conn *conn

	mu     sync.Mutex
	left   int64
	closed bool
}

func (b *body) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return 0, http.ErrBodyReadAfterClose
	}
	return b.read(p)
}

// read is called with mu held.
func (b *body) read(p []byte) (n int, err error) {
	switch {
	case b.left == 0:
		return 0, io.EOF
	case len(p) == 0:
		return 0, nil
	}
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	if n = b.conn.in.Take(p); n == 0 {
		n, err = b.conn.Conn.Read(p)
	}
	b.left -= int64(n)
	switch {
	case b.left == 0:
		return n, io.EOF // with the last bytes, so that nobody has to ask again
	case errors.Is(err, io.EOF):
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// Close ends reading; what is left is the connection's business.
func (b *body) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	return nil
}

// maxRest is how much of a body that nobody has read is read to keep the connection.
const maxRest = 256 << 10

// discard reads what is left, so that the next request is reached. It reports false where that is too much, or does not come.
func (b *body) discard() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.left > maxRest {
		return false
	}
	var rest []byte
	for b.left > 0 {
		if n := b.conn.in.Skip(int(min(b.left, inbox.Size))); n > 0 {
			b.left -= int64(n)
			continue
		}
		if rest == nil {
			rest = make([]byte, min(b.left, bufferSize))
		}
		if _, err := b.read(rest); err != nil && b.left > 0 {
			return false
		}
	}
	b.closed = true
	return true
}

// unread reports whether something is left.
func (b *body) unread() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.left > 0
}

// buffered reports whether all that is left has been read from the socket: no deadline matters then.
func (b *body) buffered() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.left <= int64(b.conn.in.Len())
}
