package inbox

import (
	"errors"
	"io"

	"golang.org/x/sys/unix"
)

// Fill waits until more has been read. It is not called when [Size] bytes are there. The connection's deadlines hold.
func (in *Inbox) Fill() error {
	if err := in.raw.Read(in.reader); err != nil {
		return err
	}
	return in.failure
}

// readNow reads without waiting, and reports false where there is nothing.
func (in *Inbox) readNow(fd uintptr) bool {
	n, err := unix.Read(int(fd), in.room())
	for errors.Is(err, unix.EINTR) {
		n, err = unix.Read(int(fd), in.room())
	}
	switch {
	case errors.Is(err, unix.EAGAIN):
		in.release() // nobody has a buffer while nothing comes
		return false
	case err == nil && n == 0:
		err = io.EOF
	}
	in.end += max(0, n)
	in.release()
	in.failure = err
	return true
}
