package chat

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// errUndecided says that nobody is there to decide.
var errUndecided = errors.New("nobody has decided")

// Policy is who decides where a tool asks.
type Policy string

// The policies.
const (
	// Ask asks the person at the input, and waits.
	Ask Policy = ""
	// All approves and None rejects everything.
	All  Policy = "all"
	None Policy = "none"
)

// decide collects a decision about every call that waits. Its error is errUndecided at the end of the input.
func (c *Conversation) decide(ctx context.Context, calls []Pending) ([]Decision, error) {
	decisions := make([]Decision, 0, len(calls))
	for _, p := range calls {
		c.screen.pending(p)
		var d Decision
		var err error
		switch c.o.Policy {
		case All:
			d = p.Approve()
			c.screen.line("  approved (--approve all)")
		case None:
			d = p.Reject("nobody is there to approve it")
			c.screen.line("  rejected (--approve none)")
		default:
			d, err = c.person(ctx, p)
		}
		if err != nil {
			return nil, err
		}
		decisions = append(decisions, d)
	}
	return decisions, nil
}

// person asks until there is a decision.
func (c *Conversation) person(ctx context.Context, p Pending) (Decision, error) {
	for {
		c.screen.prompt(c.o.Input.Interactive, "  [y]es, [n]o, [e]dit the arguments, [a]lways? ")
		line, err := c.ask(ctx)
		if errors.Is(err, errStandIn) {
			return c.standIn(p), nil
		}
		if err != nil {
			return Decision{}, err
		}
		word, rest, _ := strings.Cut(line, " ")
		rest = strings.TrimSpace(rest)
		switch strings.ToLower(word) {
		case "y", "yes":
			return p.Approve(), nil
		case "a", "always":
			c.always(ctx, p)
			return p.Approve(), nil
		case "n", "no":
			return c.rejected(ctx, p, rest)
		case "e", "edit":
			args, err := c.edited(ctx, rest)
			if err != nil {
				return Decision{}, err
			}
			if args != nil {
				return p.modify(args), nil
			}
		}
	}
}

// standIn decides in a person's place.
func (c *Conversation) standIn(p Pending) Decision {
	if s := c.o.StandIn; s.Approves != nil && s.Approves(p) {
		c.screen.line("  %s", s.Says)
		return p.Approve()
	}
	c.screen.line("  rejected: nobody has answered")
	return p.Reject("nobody is there to approve it")
}

// rejected asks a person for a reason. A script gives the reason after the "n", or none.
func (c *Conversation) rejected(ctx context.Context, p Pending, reason string) (Decision, error) {
	if reason == "" && c.o.Input.Interactive {
		c.screen.prompt(c.o.Input.Interactive, "  why? (the agent reads it; empty for no reason) ")
		var err error
		if reason, err = c.ask(ctx); err != nil {
			return Decision{}, err
		}
	}
	return p.Reject(reason), nil
}

// edited asks for other arguments; nil for none.
func (c *Conversation) edited(ctx context.Context, line string) (json.RawMessage, error) {
	if line == "" {
		c.screen.prompt(c.o.Input.Interactive, "  the arguments, as JSON on one line (empty: back): ")
		var err error
		if line, err = c.ask(ctx); err != nil || line == "" {
			return nil, err
		}
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal([]byte(line), &object); err != nil || object == nil {
		c.screen.line("  that is no JSON object")
		return nil, nil
	}
	return json.RawMessage(line), nil
}

// always adds a tool to the allow-list, as it was shown and for where it was shown, and says what effect that has.
func (c *Conversation) always(ctx context.Context, p Pending) {
	if len(p.Allow) == 0 {
		c.screen.line("  this server cannot keep it on your allow-list: approved this once")
		return
	}
	switch mode, err := c.o.Client.allow(ctx, p.Allow); {
	case err != nil:
		c.screen.line("  it could not be put on your allow-list: %s", Safe(err.Error()))
	case mode != "use_allowlist":
		c.screen.line("  it is on your allow-list, which counts in the mode use_allowlist; yours is %s", safeLine(mode))
	default:
		c.screen.line("  it is on your allow-list, as it is now%s", where(p))
	}
}

// choose asks which node to take, by its number or id.
func (c *Conversation) choose(ctx context.Context, nodes []node) (string, error) {
	c.screen.line("? several nodes are connected; which one?")
	for i, n := range nodes {
		c.screen.line("  %d  %s (%s, %s)", i+1, safeLine(n.ID), safeLine(strings.TrimSpace(n.Type+" "+n.Name)), safeLine(n.Status))
	}
	for {
		c.screen.prompt(c.o.Input.Interactive, "  number: ")
		line, err := c.ask(ctx)
		if err != nil {
			return "", err
		}
		if i, err := strconv.Atoi(line); err == nil && i >= 1 && i <= len(nodes) {
			return nodes[i-1].ID, nil
		}
		if slices.ContainsFunc(nodes, func(n node) bool { return n.ID == line }) {
			return line, nil
		}
	}
}

// StandIn decides where a person does not answer.
type StandIn struct {
	// Approves says which calls it lets run; it rejects all others. Nil is none.
	Approves func(Pending) bool
	// After is how long the person has for each answer.
	After time.Duration
	// Says is what is shown where it approves.
	Says string
}

// errStandIn says that it is time for the stand-in.
var errStandIn = errors.New("nobody has answered in time")

// ask reads an answer. At the end of the input the error is errUndecided, or errStandIn if there is a stand-in.
func (c *Conversation) ask(ctx context.Context) (string, error) {
	nobody := errUndecided
	if c.o.StandIn != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, c.o.StandIn.After, errStandIn)
		defer cancel()
		nobody = errStandIn
	}
	line, err := c.o.Input.line(ctx, c.o.Interrupts)
	switch {
	case err == nil:
		return line, nil
	case errors.Is(err, io.EOF):
		c.screen.end()
		return "", nobody
	case errors.Is(context.Cause(ctx), errStandIn):
		c.screen.end()
		return "", errStandIn
	}
	return "", err
}
