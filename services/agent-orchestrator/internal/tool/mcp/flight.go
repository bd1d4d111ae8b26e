package mcp

import (
	"context"
	"net/http"
	"sync"
)

// flight records how far one exchange with a server came, which the library does not return. The context carries it to the
// transport.
type flight struct {
	http bool // static; whether the server is asked over HTTP

	mu       sync.Mutex
	sent     bool // a whole request, or its head, may have reached the server
	post     int  // HTTP status of the answer to what was posted; 0 for none
	get      int  // the same of a stream's beginning
	overflow bool // the server sent more than is allowed
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
