package mcp

import (
	"context"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// longest is how long definitions are remembered at most, whatever the server allows.
	longest = 10 * time.Minute
	// maxRemembered bounds what is remembered of one server, in bytes as they came.
	maxRemembered = 256 << 10
)

// memory is what a server has listed. Its server's mu guards it.
type memory struct {
	tools   remembered[sdk.Tool]
	prompts remembered[sdk.Prompt]
}

// remembered is a list and until when it holds. After that it still tells what a name meant.
type remembered[T any] struct {
	list  []*T
	until time.Time
}

// noteLifetime writes down for how long the answer to a list may be remembered. The library would remember it, too, for as long as the
// server says, and on the connection that is not told of changes: so it does not hear of it.
func noteLifetime(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
		got, err := next(ctx, method, r)
		switch list := got.(type) {
		case *sdk.ListToolsResult:
			if list != nil {
				flightOf(ctx).shorten(list.TTLMs)
				list.TTLMs = 0
			}
		case *sdk.ListPromptsResult:
			if list != nil {
				flightOf(ctx).shorten(list.TTLMs)
				list.TTLMs = 0
			}
		}
		return got, err
	}
}

// remember keeps a list that came whole, unless the server has said since that it changed.
func remember[T any](s *server, at *remembered[T], changes int, list []*T, f *flight) {
	lifetime, size := f.listed()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.changes != changes || size > maxRemembered {
		*at = remembered[T]{}
		return
	}
	*at = remembered[T]{list: list, until: time.Now().Add(lifetime)}
}

// recall returns a list that holds; changes is for remember.
func recall[T any](s *server, at *remembered[T]) (list []*T, ok bool, changes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return at.list, at.list != nil && time.Now().Before(at.until), s.changes
}

// last returns the list that came last, also where it may be another by now.
func last[T any](s *server, at *remembered[T]) []*T {
	s.mu.Lock()
	defer s.mu.Unlock()
	return at.list
}
