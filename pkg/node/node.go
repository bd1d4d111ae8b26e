package node

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/tool/tooldef"
	"github.com/hecaton-dev/hecaton/pkg/tool/toolname"
)

// maxCrowdedAttempts is how often in a row a node is refused with 4009 before it gives up: a node of the user that has
// just left may still be counted.
const maxCrowdedAttempts = 5

// Node is one node, from its first connection to its last. Its methods may be called from any goroutine, but Handle only
// before Run.
type Node struct {
	// Static after New.
	opts   Options
	url    string
	timing timing
	calls  *calls
	link   *link

	// Written by Handle, static once Run has begun. names keeps the order in which tools are announced.
	tools map[string]Handler
	names []string
	defs  []tooldef.Definition

	ran atomic.Bool
}

// New checks the options; it does not connect yet.
func New(o Options) (*Node, error) { return newNode(o, defaultTiming()) }

func newNode(o Options, t timing) (*Node, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("node: %w", err)
	}
	url, err := o.endpoint()
	if err != nil {
		return nil, fmt.Errorf("node: %w", err)
	}
	return &Node{
		opts:   o,
		url:    url,
		timing: t,
		calls:  newCalls(o.MaxConcurrentTasks, t.orphan),
		link:   newLink(),
		tools:  map[string]Handler{},
		names:  []string{},
	}, nil
}

// ID returns the node's id, also where it is the default one.
func (n *Node) ID() string { return n.opts.NodeID }

// Handle offers a tool. Like [net/http.ServeMux.Handle] it panics on what only a mistake in the program can cause: a
// doubled name or one that gateways refuse, no handler, more tools than a node may have, a node that runs already.
func (n *Node) Handle(tool string, h Handler) {
	switch {
	case h == nil:
		panic("node: a tool needs a handler")
	case toolname.Check(tool) != nil:
		panic("node: " + toolname.Check(tool).Error())
	case len(n.tools) == toolname.MaxTools:
		panic("node: " + tool + " is one tool more than a node may have")
	case n.tools[tool] != nil:
		panic("node: tool " + tool + " is handled already")
	case n.ran.Load():
		panic("node: Handle after Run; the gateway has the list of tools already")
	}
	n.tools[tool] = h
	n.names = append(n.names, tool)
}

// Describe offers a tool with a definition, for the models and clients that choose among tools. Like Handle it panics on a mistake
// in the program: a definition that gateways refuse ([tooldef.Check]).
func (n *Node) Describe(def tooldef.Definition, h Handler) {
	checked, err := tooldef.Check(def.Append(nil))
	if err != nil {
		panic(fmt.Sprintf("node: the definition of the tool %q %v", def.Name, err))
	}
	n.Handle(def.Name, h)
	n.defs = append(n.defs, checked)
}

// Connected returns a channel that is closed once the node is connected, at once where it is. After a connection was
// lost a new channel stands for the next one.
func (n *Node) Connected() <-chan struct{} { return n.link.channel() }

// Run connects and stays connected until ctx ends, then tells the gateway, waits for the handlers and returns nil. It
// returns earlier, with an error, where connecting again cannot help. A node runs once.
func (n *Node) Run(ctx context.Context) error {
	if n.ran.Swap(true) {
		return ErrRan
	}
	ctx, cancel := context.WithCancel(ctx)
	err := n.stayConnected(ctx)
	cancel()
	n.calls.drain()
	n.enter(State{Phase: Stopped, Err: err})
	return err
}

func (n *Node) stayConnected(ctx context.Context) error {
	pause := Backoff{base: n.timing.retryBase, max: n.timing.retryMax}
	crowded := 0
	var abandoned time.Time // when the node last gave up an attempt of its own
	for {
		n.enter(State{Phase: Connecting})
		began := time.Now()
		err := n.connectOnce(ctx)
		if time.Since(began) >= n.timing.stable {
			pause.Reset()
		}
		if crowded++; !errors.Is(err, ErrTooManyNodes) {
			crowded = 0
		}
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, errAbandoned):
			abandoned = time.Now()
		case errors.Is(err, ErrSuperseded) && time.Since(abandoned) < n.timing.heard:
			abandoned = time.Time{} // a gateway may have heard late of the attempt that was given up: comes back, once
		case permanent(err), crowded == maxCrowdedAttempts:
			return fmt.Errorf("node: %w", err)
		}
		wait := pause.Next()
		n.opts.Logger.WarnContext(ctx, "node disconnected", "error", err, "retry_in", wait)
		n.enter(State{Phase: Disconnected, Err: err, Retry: wait})
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil
		}
	}
}

// connectOnce returns why the connection ended or did not come about; nil where ctx did.
func (n *Node) connectOnce(ctx context.Context) error {
	ws, token, err := n.dial(ctx)
	if err != nil {
		return err
	}
	s := newSession(n, ws, token)
	err = s.run(ctx)
	n.calls.disown(s)
	return err
}

// enter is called on Run's goroutine only, so that OnState hears of changes in order.
func (n *Node) enter(state State) {
	n.link.set(state.Phase == Connected)
	if n.opts.OnState != nil {
		n.opts.OnState(state)
	}
}
