package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/node"
	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/desktop"
)

// nodeConfig is what to offer to whom.
type nodeConfig struct {
	Server string            `conf:"server" env:"HECATON_SERVER" default:"http://127.0.0.1:8080" help:"any gateway's URL"`
	User   string            `conf:"user,required" env:"HECATON_USER" help:"whose node this is"`
	Token  config.LiveSecret `conf:"token" env:"HECATON_TOKEN" help:"JWT of the user; --token-file is read again before it ends, so that the node stays"`

	NodeID string   `conf:"node-id" help:"the node's id among the user's; desktop_USER where empty"`
	Name   string   `conf:"name" help:"what people see of the node; this machine's name where empty"`
	Dir    string   `conf:"dir" default:"." help:"the directory whose files the tools may touch"`
	Tools  []string `conf:"tools" help:"tools to offer; where empty all, run_command with --allow-commands only"`

	Commands bool     `conf:"allow-commands" help:"offer run_command, which runs programs as you"`
	Confirm  string   `conf:"confirm" default:"none" help:"which calls you are asked about here before they run: none, commands, writes (commands, too), or all"`
	Sandbox  string   `conf:"sandbox" default:"auto" help:"what commands run in: auto (bubblewrap where it works), require, or off"`
	Network  bool     `conf:"sandbox-network" help:"let commands in the sandbox use the network"`
	Readable []string `conf:"sandbox-read" help:"directories that commands in the sandbox may read beside those of the system"`

	Log obs.LogConfig
}

func runNode(ctx context.Context, e Env) error {
	cfg := nodeConfig{Log: quiet}
	if err := e.load("node", &cfg, nil); err != nil {
		return err
	}
	if err := cfg.seclude(e); err != nil {
		return err
	}
	tools, err := cfg.open(e)
	if err != nil {
		return &usageError{err}
	}
	defer tools.Close()
	out := nodeOutput{e: e, server: cfg.Server, user: cfg.User, tools: tools}
	n, err := node.New(node.Options{
		Server: cfg.Server, UserID: cfg.User, NodeID: cfg.NodeID, Name: cfg.name(), AppVersion: e.build(),
		Capabilities: tools.Capabilities(), Token: cfg.token,
		OnState: func(s node.State) { out.state(s) }, Logger: e.logger(cfg.Log),
	})
	if err != nil {
		return &usageError{err}
	}
	out.id = n.ID()
	tools.Register(n)
	return inWords(n.Run(ctx))
}

// open makes the tools that are to be offered.
func (c nodeConfig) open(e Env) (*desktop.Tools, error) {
	o := desktop.Options{
		Tools: c.Tools, Commands: c.Commands, Confirm: desktop.Confirm(c.Confirm),
		Sandbox: desktop.SandboxOptions{Mode: desktop.SandboxMode(c.Sandbox), Network: c.Network, Read: c.Readable},
	}
	if !c.Commands && slices.Contains(c.Tools, "run_command") {
		return nil, errors.New("run_command runs programs as you: offering it takes --allow-commands")
	}
	if file := c.Token.File(); file != "" {
		if err := apart(c.Dir, file); err != nil {
			return nil, err
		}
		o.Sandbox.Hide = []string{file}
	}
	if o.Confirm != "" && o.Confirm != desktop.ConfirmNone {
		o.Ask = newConfirmer(e).ask
		if !e.Interactive {
			fmt.Fprintln(e.Stderr, "there is no terminal: calls that --confirm asks about are refused")
		}
	}
	return desktop.Open(c.Dir, o)
}

// inWords adds what the end of a connection means.
func inWords(err error) error {
	for _, meaning := range []error{node.ErrMissingID, node.ErrNotAllowed, node.ErrTooManyNodes, node.ErrSuperseded} {
		if errors.Is(err, meaning) {
			return fmt.Errorf("%w: %w", meaning, err)
		}
	}
	return err
}

// token is what the connection is to be known by from now on.
func (c nodeConfig) token(context.Context) (string, error) {
	token, err := c.Token.Get()
	return token.Reveal(), err
}

func (c nodeConfig) name() string {
	if c.Name != "" {
		return c.Name
	}
	return hostname()
}

// nodeOutput says how the connection stands.
type nodeOutput struct {
	e                Env
	server, user, id string
	tools            *desktop.Tools
	said             bool // what is offered
}

// state is told of every change, in order.
func (o *nodeOutput) state(s node.State) {
	w := o.e.Stdout
	switch s.Phase {
	case node.Connecting:
		fmt.Fprintf(w, "connecting to %s\n", o.server)
	case node.Connected:
		fmt.Fprintf(w, "connected as node %s of user %s\n", printable(o.id), printable(o.user))
		if !o.said {
			o.said = true
			fmt.Fprintf(w, "offering %s in %s; Ctrl-C ends it\n", strings.Join(o.tools.Names(), ", "), o.tools.Root())
			if isolation := o.tools.Isolation(); isolation != "" {
				fmt.Fprintln(w, isolation)
			}
		}
	case node.Disconnected:
		fmt.Fprintf(w, "disconnected (%v), again in %v\n", oneLine(s.Err), s.Retry.Round(100*time.Millisecond))
	case node.Stopped:
		if s.Err == nil {
			fmt.Fprintln(w, "stopped")
		}
	}
}

func oneLine(err error) error {
	if err == nil {
		return nil
	}
	return errors.New(strings.ReplaceAll(err.Error(), "\n", "; "))
}
