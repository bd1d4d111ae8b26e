package http1

import (
	"errors"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// hangup is what is watched for: each is told once.
const hangup = unix.EPOLLRDHUP | unix.EPOLLHUP | unix.EPOLLERR | unix.EPOLLET

// watch tells connections that their clients have gone away. It knows each by a number of its own, since the system gives the number of
// a socket that is closed to the next one.
type watch struct {
	// Static after newWatch.
	file *os.File // the epoll instance, on which the runtime waits
	raw  syscall.RawConn
	fd   int
	done chan struct{} // closed when run has ended

	mu    sync.Mutex
	last  uint64
	conns map[uint64]*conn
}

func newWatch() (*watch, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("epoll_create1", err)
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		return nil, errors.Join(os.NewSyscallError("fcntl", err), unix.Close(fd))
	}
	w := &watch{file: os.NewFile(uintptr(fd), "epoll"), fd: fd, done: make(chan struct{}), conns: make(map[uint64]*conn)}
	if w.raw, err = w.file.SyscallConn(); err != nil {
		return nil, errors.Join(err, w.file.Close())
	}
	go w.run()
	return w, nil
}

// add begins to watch a connection; its socket's end ends it.
func (w *watch) add(c *conn) error {
	w.mu.Lock()
	w.last++
	c.number = w.last
	w.conns[c.number] = c
	w.mu.Unlock()
	event := unix.EpollEvent{Events: hangup, Fd: int32(uint32(c.number)), Pad: int32(uint32(c.number >> 32))}
	return w.control(c, unix.EPOLL_CTL_ADD, &event)
}

// remove stops watching a connection whose socket lives on.
func (w *watch) remove(c *conn) {
	w.forget(c)
	_ = w.control(c, unix.EPOLL_CTL_DEL, new(unix.EpollEvent)) // what is not removed is not known any more
}

// forget stops watching a connection whose socket is about to be closed.
func (w *watch) forget(c *conn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.conns, c.number)
}

func (w *watch) control(c *conn, op int, event *unix.EpollEvent) error {
	var failure error
	err := c.raw.Control(func(fd uintptr) { failure = unix.EpollCtl(w.fd, op, int(fd), event) })
	return errors.Join(err, os.NewSyscallError("epoll_ctl", failure))
}

func (w *watch) run() {
	defer close(w.done)
	var events [64]unix.EpollEvent
	for {
		n := 0
		err := w.raw.Read(func(fd uintptr) bool {
			n, _ = unix.EpollWait(int(fd), events[:], 0)
			return n > 0
		})
		if err != nil {
			return // closed
		}
		for _, e := range events[:n] {
			if c := w.find(uint64(uint32(e.Fd)) | uint64(uint32(e.Pad))<<32); c != nil {
				c.hungUp()
			}
		}
	}
}

func (w *watch) find(number uint64) *conn {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.conns[number]
}

// close ends run.
func (w *watch) close() {
	_ = w.file.Close() // there is nothing in it that could be lost
	<-w.done
}
