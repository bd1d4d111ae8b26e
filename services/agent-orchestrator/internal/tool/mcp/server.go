package mcp

import (
	"context"
	"errors"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
)

// server is one MCP server for the time of a run. If its connection breaks, it opens another.
type server struct {
	// static after construction
	opts   *Options
	config *agentv1.McpServer
	// trusted says that the user trusts what the server says of its tools.
	trusted bool

	mu      sync.Mutex // held while connecting, so that calls wait for one connection
	current *session
	closed  bool
}

var errClosed = errors.New("mcp: the run is over")

// session is one connection.
type session struct {
	*sdk.ClientSession
	done    chan struct{} // closed when it is over
	release context.CancelFunc
}

func (s *session) over() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

func (s *session) end() {
	_ = s.Close() // fails if the server is gone, which does not matter
	<-s.done
	s.release()
}

func (s *server) newFlight() *flight { return &flight{http: transportType(s.config) != Stdio} }

// session returns the connection, a new one if there is none or it has ended. The error is an *Error.
func (s *server) session(ctx context.Context) (*session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, &Error{Kind: Unreachable, Message: "the run is over", Err: errClosed}
	}
	if s.current != nil && !s.current.over() {
		return s.current, nil
	}
	s.drop()
	var err error
	s.current, err = s.connect(ctx)
	return s.current, err
}

// forget makes the next session a new connection.
func (s *server) forget(old *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current == old {
		s.drop()
	}
}

func (s *server) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.drop()
}

// drop is called with mu held.
func (s *server) drop() {
	if s.current != nil {
		s.current.end()
		s.current = nil
	}
}

// connect takes at most the connect timeout. The connection outlives ctx; session.end ends it.
func (s *server) connect(ctx context.Context) (*session, error) {
	if err := Check(s.config, s.opts.Guard, s.opts.Stdio); err != nil {
		return nil, explain(ctx, &flight{}, err)
	}
	way, err := transport(s.config, s.opts.Guard)
	if err != nil {
		return nil, explain(ctx, &flight{}, err)
	}
	connecting, cancel := context.WithTimeout(ctx, s.opts.ConnectTimeout)
	defer cancel()
	life, release := context.WithCancel(context.WithoutCancel(ctx))
	detach := context.AfterFunc(connecting, release)
	f := s.newFlight()
	client := sdk.NewClient(&sdk.Implementation{Name: "hecaton", Version: "1"}, &sdk.ClientOptions{
		Capabilities:   &sdk.ClientCapabilities{},
		MultiRoundTrip: &sdk.MultiRoundTripOptions{Disabled: true}, // it would send a call twice
	})
	opened, err := client.Connect(f.attach(life), way, nil)
	if err != nil {
		release()
		return nil, explain(connecting, f, err)
	}
	sess := &session{ClientSession: opened, done: make(chan struct{}), release: release}
	go func() { // ended by session.end
		_ = opened.Wait()
		close(sess.done)
	}()
	if !detach() { // the time was over at the last moment
		sess.end()
		return nil, explain(connecting, f, context.Cause(connecting))
	}
	return sess, nil
}
