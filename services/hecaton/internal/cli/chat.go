package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/chat"
)

// chatConfig is with whom to talk about what.
type chatConfig struct {
	Server  []string      `conf:"server" env:"HECATON_SERVER" default:"http://127.0.0.1:8080" help:"gateways' URLs; where one cannot be reached the next one is asked"`
	User    string        `conf:"user,required" env:"HECATON_USER" help:"the user who talks to the agent"`
	Token   config.Secret `conf:"token" env:"HECATON_TOKEN" help:"JWT of the user"`
	Session string        `conf:"session" help:"the session to go on with; a new one where empty"`
	Mode    string        `conf:"mode" help:"agent, ask or plan; agent where empty"`
	Node    string        `conf:"node" help:"the node that a new session should use; asked for where several are connected"`
	Message string        `conf:"m" help:"say only this, and end with the run"`
	Approve string        `conf:"approve" help:"all or none: what becomes of calls that ask; a person decides where empty"`
	AskFor  []string      `conf:"ask-for" help:"tools that ask in this conversation, whatever the settings are"`
}

// Validate reports what cannot work.
func (c chatConfig) Validate() error {
	var problems []error
	for _, server := range c.Server {
		if u, err := url.Parse(server); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			problems = append(problems, fmt.Errorf("--server %q must be a URL such as http://127.0.0.1:8080", server))
		}
	}
	switch c.Mode {
	case "", "agent", "ask", "plan":
	default:
		problems = append(problems, fmt.Errorf("--mode is %q, must be agent, ask or plan", c.Mode))
	}
	switch chat.Policy(c.Approve) {
	case chat.Ask, chat.All, chat.None:
	default:
		problems = append(problems, fmt.Errorf("--approve is %q, must be all or none", c.Approve))
	}
	return errors.Join(problems...)
}

func runChat(ctx context.Context, e Env) error {
	var cfg chatConfig
	if err := e.load("chat", &cfg, nil); err != nil {
		return err
	}
	ctx, interrupts, release := e.interrupts(ctx)
	defer release()
	input := chat.NewInput(e.Stdin, e.Interactive)
	defer input.Close()
	c, err := chat.New(chat.Options{
		Client: &chat.Client{Servers: cfg.Server, User: cfg.User, Token: cfg.Token},
		Input:  input, Out: e.Stdout, Session: cfg.Session, Mode: cfg.Mode, Node: cfg.Node,
		Policy: chat.Policy(cfg.Approve), AskAbout: cfg.AskFor, Interrupts: interrupts,
	})
	if err != nil {
		return err
	}
	finish, err := cfg.talk(ctx, c)
	if errors.Is(err, chat.ErrLeft) || finish == "interrupt" || e.Interactive && err == nil {
		cfg.Session = c.Session()
		fmt.Fprintf(e.Stderr, "to go on: %s\n", cfg.again(e.program()))
	}
	return finished(finish, err)
}

// talk does what the flags say.
func (c chatConfig) talk(ctx context.Context, talk *chat.Conversation) (finish string, err error) {
	if c.Session != "" {
		finish, err = talk.Attach(ctx)
		var refused *chat.Refused
		if errors.As(err, &refused) && refused.Reason == "SESSION_NOT_FOUND" {
			err = nil // a new one of that name
		}
		if err != nil || finish == "interrupt" {
			return finish, err
		}
	}
	if c.Message != "" {
		return talk.Say(ctx, c.Message)
	}
	last, err := talk.Run(ctx)
	if last != "" {
		finish = last
	}
	return finish, err
}

// again is the command that goes on with the session.
func (c chatConfig) again(program string) string {
	return quoted(program) + " chat --server " + strings.Join(c.Server, ",") + " --user " + quoted(c.User) + " --session " + quoted(c.Session)
}

// quoted is a word for a shell.
func quoted(word string) string {
	if strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.@:/") == "" && word != "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// finished is the error of a conversation that ended so.
func finished(finish string, err error) error {
	var refused *chat.Refused
	var away *chat.Unreachable
	var lost *chat.Lost
	switch {
	case errors.As(err, &refused) && refused.Status == http.StatusBadRequest:
		return &usageError{err}
	case errors.As(err, &away):
		return &outcomeError{errs.NotDelivered, err}
	case errors.As(err, &lost):
		return &outcomeError{errs.Unknown, err}
	case err != nil:
		return err
	}
	switch finish {
	case "", "stop":
		return nil
	case "interrupt":
		return errWaiting
	}
	return fmt.Errorf("the run ended with %q", finish)
}

// errWaiting says that the run goes on once somebody decides.
var errWaiting = errors.New("the run waits for a decision")
