package http1

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// sender writes what a socket has room for. It belongs to the handler.
type sender struct {
	writer  func(fd uintptr) bool // made once
	text    []byte
	n       int
	failure error
}

func (s *sender) prepare() { s.writer = s.writeNow }

// write does not wait: it may write less than all.
func (s *sender) write(raw syscall.RawConn, p []byte) (int, error) {
	s.text = p
	err := raw.Write(s.writer)
	s.text = nil
	switch {
	case err != nil:
		return 0, err
	case errors.Is(s.failure, unix.EAGAIN):
		return 0, nil
	}
	return max(0, s.n), s.failure
}

func (s *sender) writeNow(fd uintptr) bool {
	s.n, s.failure = unix.Write(int(fd), s.text)
	for errors.Is(s.failure, unix.EINTR) {
		s.n, s.failure = unix.Write(int(fd), s.text)
	}
	return true
}
