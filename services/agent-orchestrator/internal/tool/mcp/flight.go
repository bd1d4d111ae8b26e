package mcp

import (
	"context"
	"sync"
)

// flight is what is known of one exchange with a server beside what the library returns: how far it came. It travels in
// the context down to the transport.
type flight struct {
	http bool // static; whether the server is asked over HTTP

	mu       sync.Mutex
	sent     bool // a whole request, or its head, may have reached the server
	status   int  // HTTP status of the last answer; 0 for none
	overflow bool // the server sent more than is read
}

type flightKey struct{}

func (f *flight) attach(ctx context.Context) context.Context {
	return context.WithValue(ctx, flightKey{}, f)
}

// flightOf never returns nil: what happens without a flight is noted nowhere.
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

func (f *flight) setStatus(status int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.status = status
}

func (f *flight) setOverflow() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.overflow = true
}

func (f *flight) seen() (status int, sent bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.status, f.sent
}

func (f *flight) overflowed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.overflow
}
