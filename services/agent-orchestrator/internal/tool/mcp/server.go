package mcp

import (
	"context"
	"errors"
	"sync"

	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
)

// server is one MCP server as one user reaches it. If its connection breaks, it opens another.
type server struct {
	// static after construction
	opts   *Options
	config *agentv1.McpServer
	// trusted says that the user trusts what the server says of its tools.
	trusted bool
	// turn is held, as its one value, while connecting, so that calls wait for one connection, each as long as it may.
	turn chan struct{}
	// progress tells calls what the server says of theirs.
	progress progress

	ending sync.WaitGroup // sessions that are being ended

	mu      sync.Mutex
	current *session // guarded by mu, as all below
	retired bool
	memory  memory
	changes int // how often the server said that it has other tools or prompts
	ears    map[*watcher]bool
}

func newServer(o *Options, config Server) *server {
	return &server{opts: o, config: config.McpServer, trusted: config.Trusted, turn: make(chan struct{}, 1)}
}

var errRetired = errors.New("mcp: the server is not used any more")

func (s *server) newFlight() *flight { return &flight{http: transportType(s.config) != Stdio} }

// acquire returns the connection, a new one if there is none or it has ended; fresh says that nobody has used it before. Give it
// back. The error is an *Error.
func (s *server) acquire(ctx context.Context) (sess *session, fresh bool, err error) {
	if sess, err = s.use(); sess != nil || err != nil {
		return sess, false, err
	}
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, false, &Error{Kind: TimedOut, Message: "it did not answer in time", Err: context.Cause(ctx)}
	}
	defer func() { <-s.turn }()
	if sess, err = s.use(); sess != nil || err != nil {
		return sess, false, err
	}
	if sess, err = s.connect(ctx, false); err != nil {
		return nil, false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	sess.users = 1
	if s.retired {
		sess.left = true
	} else {
		s.current = sess
	}
	return sess, true, nil
}

// use returns the connection that there is; nil for none.
func (s *server) use() (*session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.retired {
		return nil, &Error{Kind: Unreachable, Message: "its configuration was changed or removed", Err: errRetired}
	}
	if s.current == nil {
		return nil, nil //nolint:nilnil // none is no error
	}
	if s.current.over() {
		s.drop()
		return nil, nil //nolint:nilnil // as above
	}
	s.current.users++
	return s.current, nil
}

// release gives a connection back.
func (s *server) release(sess *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sess.users--
	s.endUnused(sess)
}

// leave makes the next acquire a new connection. Calls that are under way on the old one go on.
func (s *server) leave(old *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current == old {
		s.drop()
	}
}

// drop is called with mu held, and a current session.
func (s *server) drop() {
	old := s.current
	s.current, old.left = nil, true
	s.endUnused(old)
}

// endUnused is called with mu held.
func (s *server) endUnused(sess *session) {
	if sess.left && sess.users == 0 {
		s.ending.Go(sess.end)
	}
}

// retire refuses further use, and ends the connection once the calls that are under way are over.
func (s *server) retire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.retired = true; s.current != nil {
		s.drop()
	}
}

// close retires a server that nobody calls, and waits for the end of its connection.
func (s *server) close() {
	s.retire()
	s.ending.Wait()
}

// isRetired reports whether the server must not be used any more.
func (s *server) isRetired() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.retired
}
