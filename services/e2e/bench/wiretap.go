package main

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
)

// wireTap counts the bytes of connections that it passes on.
type wireTap struct {
	target string
	ln     net.Listener
	work   sync.WaitGroup

	// there is how many bytes went from the target to those who dialled.
	there atomic.Int64

	mu    sync.Mutex
	open  []net.Conn
	ended bool
}

// countBytes passes connections on to a target.
func countBytes(target string) (*wireTap, error) {
	ln, err := net.Listen("tcp", loopback)
	if err != nil {
		return nil, err
	}
	t := &wireTap{target: target, ln: ln}
	t.work.Go(t.accept)
	return t, nil
}

func (t *wireTap) addr() string { return t.ln.Addr().String() }

func (t *wireTap) close() {
	t.mu.Lock()
	t.ended = true
	for _, c := range t.open {
		_ = c.Close() // it may have ended already
	}
	t.mu.Unlock()
	_ = t.ln.Close()
	t.work.Wait()
}

func (t *wireTap) accept() {
	for {
		from, err := t.ln.Accept()
		if err != nil {
			return
		}
		to, err := net.Dial("tcp", t.target)
		if err != nil {
			_ = from.Close() // who dialled tries again
			continue
		}
		if !t.keep(from, to) {
			return
		}
		t.work.Go(func() { pass(to, from, nil) })
		t.work.Go(func() { pass(from, to, &t.there) })
	}
}

// keep notes connections that close has to end, and ends them where it has been already.
func (t *wireTap) keep(conns ...net.Conn) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open = append(t.open, conns...)
	if t.ended {
		for _, c := range conns {
			_ = c.Close()
		}
	}
	return !t.ended
}

// pass copies until either side ends, and ends both.
func pass(to, from net.Conn, count *atomic.Int64) {
	var w io.Writer = to
	if count != nil {
		w = counting{to, count}
	}
	_, _ = io.Copy(w, from) // the end of either is an end
	_ = to.Close()
	_ = from.Close()
}

type counting struct {
	io.Writer
	bytes *atomic.Int64
}

func (c counting) Write(p []byte) (int, error) {
	c.bytes.Add(int64(len(p)))
	return c.Writer.Write(p)
}
