package chat

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/hecaton-dev/hecaton/pkg/process/options"
)

// ErrLeft says that somebody left while a run was going on.
var ErrLeft = errors.New("left; the run may go on")

// Options of a Conversation.
type Options struct {
	Client *Client
	Input  *Input
	// Out is what the person sees.
	Out io.Writer
	// Session is the one to go on with; "" for a new one.
	Session string
	// Mode and Node are as in an invoke request; "" leaves them to the server.
	Mode, Node string
	Policy     Policy
	// StandIn decides where a person does not; nil for nobody.
	StandIn *StandIn
	// AskAbout are tools that ask in this conversation, whatever the settings are.
	AskAbout []string
	// Interrupts is told of every Ctrl-C; nil for none.
	Interrupts <-chan struct{}
}

// Conversation is one session at a terminal. It is for one goroutine.
type Conversation struct {
	o       Options
	session string
	screen  *screen
	last    int64 // the number of the last event that was shown
}

// New returns a conversation. Nothing is sent yet.
func New(o Options) (*Conversation, error) {
	if err := options.Require("chat", map[string]bool{"Client": o.Client == nil, "Input": o.Input == nil, "Out": o.Out == nil}); err != nil {
		return nil, err
	}
	c := &Conversation{o: o, session: o.Session, screen: &screen{out: o.Out}}
	if c.session == "" {
		var b [6]byte
		_, _ = rand.Read(b[:]) // never fails
		c.session = "session_" + hex.EncodeToString(b[:])
	}
	return c, nil
}

// Session is the name under which the conversation goes on.
func (c *Conversation) Session() string { return c.session }

// Run talks until the input ends or the person leaves, and returns the finish_reason of the last run; "" if there was none.
func (c *Conversation) Run(ctx context.Context) (finish string, err error) {
	for {
		if c.o.Input.Interactive {
			c.screen.prompt(true, "> ")
		}
		line, err := c.o.Input.line(ctx, c.o.Interrupts)
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, ErrInterrupted):
			if c.o.Input.Interactive {
				c.screen.line("")
			}
			return finish, nil
		case err != nil:
			return finish, err
		case line == "":
			continue
		}
		said, err := c.Say(ctx, line)
		var refused *Refused
		switch {
		case errors.As(err, &refused) && c.o.Input.Interactive:
			c.screen.line("! %s", refused.Message)
		case err != nil:
			return finish, err
		case said == "interrupt": // and the input has ended
			return said, nil
		default:
			finish = said
		}
	}
}

// Say gives the agent a message and shows what it does until the run ends. It returns the finish_reason, which is
// "interrupt" if nobody made the decision that the run waits for.
func (c *Conversation) Say(ctx context.Context, message string) (finish string, err error) {
	body := map[string]any{"message": message, "session_id": c.session, "replaces": true}
	for name, value := range map[string]string{"mode": c.o.Mode, "preferred_node_id": c.o.Node} {
		if value != "" {
			body[name] = value
		}
	}
	if len(c.o.AskAbout) > 0 {
		rules := map[string]any{}
		for _, tool := range c.o.AskAbout {
			rules[tool] = map[string]bool{"enabled": true, "requires_interrupt": true}
		}
		body["tool_interrupt_config"] = rules
	}
	return c.follow(ctx, &stream{open: request{
		method: http.MethodPost, path: "/api/agent/invoke", body: body, header: map[string]string{"Idempotency-Key": rand.Text()},
	}})
}

// Attach continues a session: it follows an active run, and asks for the decision that an interrupted run waits for. It
// returns "" at once if the session is idle.
func (c *Conversation) Attach(ctx context.Context) (finish string, err error) {
	s, err := c.o.Client.Session(ctx, c.session)
	if err != nil {
		return "", err
	}
	c.last = int64(s.LastSeq)
	switch {
	case s.Status == "interrupted" && s.Interrupt != nil:
		c.screen.line("This session waits for a decision.")
		return c.decided(ctx, *s.Interrupt)
	case s.Status == "running":
		c.screen.line("This session is at work; what it did so far is not shown.")
		return c.follow(ctx, &stream{begun: true})
	}
	return "", nil
}

// follow shows a stream to the end of the run; where the run waits, it asks and goes on.
func (c *Conversation) follow(ctx context.Context, s *stream) (string, error) {
	s.client, s.session, s.last = c.o.Client, c.session, c.last
	s.lost = func(error) { c.screen.line("! the connection is lost") }
	s.back = func() { c.screen.line("! reconnected") }
	if s.begun {
		s.open = s.again()
	}
	var finish string
	var waiting interrupt
	err := c.attended(ctx, func(ctx context.Context) error {
		return s.follow(ctx, func(e event) error {
			c.screen.show(e)
			switch e.Type {
			case "interrupt":
				waiting = e.interrupt
			case "complete":
				finish = e.FinishReason
			}
			return nil
		})
	})
	c.last = max(c.last, s.last)
	if err != nil {
		c.screen.end()
		return "", err
	}
	if finish == "interrupt" {
		return c.decided(ctx, waiting)
	}
	return finish, nil
}

// decided asks what a run waits for, and follows what comes of it.
func (c *Conversation) decided(ctx context.Context, waiting interrupt) (string, error) {
	body := map[string]any{"session_id": c.session}
	var err error
	if waiting.Reason == "node_selection" {
		body["node_id"], err = c.choose(ctx, waiting.AvailableNodes)
		body["tool_call_results"] = []Decision{}
	} else {
		body["tool_call_results"], err = c.decide(ctx, waiting.ToolCalls)
	}
	switch {
	case errors.Is(err, ErrInterrupted):
		c.screen.end()
		if err := c.o.Client.Cancel(ctx, c.session); err != nil {
			return "", err
		}
		c.screen.line("! the run was cancelled")
		return "cancelled", nil
	case errors.Is(err, errUndecided):
		c.screen.line("! nobody has decided; the run waits")
		return "interrupt", nil
	case err != nil:
		return "", err
	}
	return c.follow(ctx, &stream{open: request{method: http.MethodPost, path: "/api/agent/resume", body: body}})
}

// attended runs f. The first Ctrl-C cancels the session's run, and f continues until that ends; the second Ctrl-C ends f.
func (c *Conversation) attended(ctx context.Context, f func(context.Context) error) error {
	ctx, leave := context.WithCancelCause(ctx)
	defer leave(nil)
	done := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-c.o.Interrupts:
			case <-done:
				return
			}
			if n > 0 {
				leave(ErrLeft)
				return
			}
			c.screen.line("! cancelling; Ctrl-C again leaves")
			watching.Go(func() {
				if err := c.o.Client.Cancel(ctx, c.session); err != nil && ctx.Err() == nil {
					c.screen.line("! not cancelled: %s", Safe(err.Error()))
				}
			})
		}
	})
	err := f(ctx)
	close(done)
	if cause := context.Cause(ctx); err != nil && errors.Is(cause, ErrLeft) {
		err = fmt.Errorf("%w: %w", ErrLeft, err)
	}
	leave(nil)
	watching.Wait()
	return err
}
