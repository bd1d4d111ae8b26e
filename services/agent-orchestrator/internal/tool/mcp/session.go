package mcp

import (
	"context"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// session is one connection.
type session struct {
	*sdk.ClientSession
	done    chan struct{} // closed when it is over
	lost    chan struct{} // closed when the stream of a listening session is over
	release context.CancelFunc

	// Guarded by the server's mu.
	users int
	left  bool // nobody else will use it
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

// connect takes at most the connect timeout. The connection outlives ctx; session.end ends it. A listening one hears what the server
// says unasked, where that needs a stream of its own.
func (s *server) connect(ctx context.Context, listening bool) (*session, error) {
	if err := Check(s.config, s.opts.Guard, s.opts.Stdio); err != nil {
		return nil, explain(ctx, &flight{}, err)
	}
	lost := make(chan struct{})
	way, err := transport(s.config, s.opts.Guard, listening, lost)
	if err != nil {
		return nil, explain(ctx, &flight{}, err)
	}
	connecting, cancel := context.WithTimeout(ctx, s.opts.ConnectTimeout)
	defer cancel()
	life, release := context.WithCancel(context.WithoutCancel(ctx))
	detach := context.AfterFunc(connecting, release)
	f := s.newFlight()
	opened, err := s.client(listening).Connect(f.attach(life), way, nil)
	if err != nil {
		release()
		return nil, explain(connecting, f, err)
	}
	sess := &session{ClientSession: opened, done: make(chan struct{}), lost: lost, release: release}
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

// client returns the client of one connection.
func (s *server) client(listening bool) *sdk.Client {
	o := &sdk.ClientOptions{
		Capabilities:                &sdk.ClientCapabilities{},
		MultiRoundTrip:              &sdk.MultiRoundTripOptions{Disabled: true}, // it would send a call twice
		ProgressNotificationHandler: s.progress.hear,
	}
	if listening || transportType(s.config) != StreamableHTTP { // the others have one stream for everything
		o.ToolListChangedHandler = func(context.Context, *sdk.ToolListChangedRequest) { s.changed(Change{Tools: true}) }
		o.PromptListChangedHandler = func(context.Context, *sdk.PromptListChangedRequest) { s.changed(Change{Prompts: true}) }
	}
	c := sdk.NewClient(&sdk.Implementation{Name: "hecaton", Version: "1"}, o)
	c.AddSendingMiddleware(noteLifetime)
	return c
}
