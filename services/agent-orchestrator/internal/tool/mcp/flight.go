package mcp

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// flight records how far one exchange with a server came, which the library does not return. The context carries it to the
// transport.
type flight struct {
	http bool // static; whether the server is asked over HTTP

	mu       sync.Mutex
	sent     bool           // a whole request, or its head, may have reached the server
	post     int            // HTTP status of the answer to what was posted; 0 for none
	get      int            // the same of a stream's beginning
	overflow bool           // the server sent more than is allowed
	read     int64          // bytes of answers, and what their values take
	limit    int64          // of read; 0 for none but that of each answer
	lifetime *time.Duration // how long all lists may be remembered; nil before the first
}

type flightKey struct{}

func (f *flight) attach(ctx context.Context) context.Context {
	return context.WithValue(ctx, flightKey{}, f)
}

// flightOf never returns nil: without a flight in ctx it returns one that nobody reads.
func flightOf(ctx context.Context) *flight {
	if f, ok := ctx.Value(flightKey{}).(*flight); ok {
		return f
	}
	return &flight{}
}

func (f *flight) setSent(sent bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sent = sent
}

// setStatus keeps the last status of a GET, and the first good status of a POST. Before the good one may come a redirect, and
// after it the answer to a notification that the call is cancelled; a stream that is resumed says nothing about the call.
func (f *flight) setStatus(method string, status int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case method == http.MethodGet:
		f.get = status
	case f.post/100 != 2:
		f.post = status
	}
}

func (f *flight) setOverflow() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.overflow = true
}

// take counts what was read, and reports whether more may be.
func (f *flight) take(n int64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.read += n
	return f.limit == 0 || f.read <= f.limit
}

// shorten notes for how long the server lets a part of a list be remembered, in milliseconds.
func (f *flight) shorten(ms int) {
	lifetime := min(max(0, time.Duration(min(ms, int(longest/time.Millisecond)))*time.Millisecond), longest)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.lifetime == nil || lifetime < *f.lifetime {
		f.lifetime = &lifetime
	}
}

// listed returns how long a list may be remembered, and its size.
func (f *flight) listed() (lifetime time.Duration, size int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.lifetime != nil {
		lifetime = *f.lifetime
	}
	return lifetime, f.read
}

func (f *flight) seen() (status int, sent bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.post == 0 {
		return f.get, f.sent
	}
	return f.post, f.sent
}

func (f *flight) overflowed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.overflow
}
