package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/refusal"
	"github.com/hecaton-dev/hecaton/pkg/sleep"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/approval"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

// maxCalls is how many calls of one answer run.
const maxCalls = 32

const (
	// policyPatience is how long the approval settings are waited for while they cannot be read, and policyPause how long
	// between two attempts, of which each has some patience of its own.
	policyPatience = 15 * time.Second
	policyPause    = 100 * time.Millisecond
)

// The reasons of interrupts.
const (
	reasonApproval  = "approval"
	reasonSelection = "node_selection"
)

// plan is what becomes of an answer's calls, by position.
type plan struct {
	// asks are the calls that a person has to decide about, and decisions why.
	asks      []bool
	decisions []approval.Decision
	// failed are those that cannot run, and why.
	failed []*tool.Failure
	// interrupt is what has to be answered first; nil where all can run.
	interrupt *agentv1.Interrupt
}

// plan decides about the calls that wait, and changes them: each is Ready, or Waiting for what the interrupt asks. Before
// anybody is asked whether a call may run, it must be known where. The error is why the run cannot go on now; then nothing
// was planned.
func (r *run) plan(calls []store.Call) (plan, error) {
	p := plan{asks: make([]bool, len(calls)), decisions: make([]approval.Decision, len(calls)), failed: make([]*tool.Failure, len(calls))}
	if len(calls) == 0 {
		return p, nil
	}
	// Read for every answer with calls: who has just chosen to be asked is asked from the next one on.
	policy, err := r.readPolicy()
	if err != nil {
		return p, err
	}
	var nodes []*nodev1.Node
	unplaced := make([]bool, len(calls))
	for i := range calls {
		c := &calls[i]
		if c.State != store.Waiting {
			continue
		}
		t := r.kit.toolOf(c)
		if p.failed[i] = r.kit.check(c, t); p.failed[i] != nil {
			continue
		}
		d, err := r.judge(r.ask, policy, c, t)
		p.decisions[i], p.asks[i] = d, d.Verdict == approval.Ask
		var choice *tool.Selection
		switch {
		case d.Verdict == approval.Refuse:
			p.failed[i] = refused(d)
		case r.ask.Err() != nil:
			return p, context.Cause(r.ask)
		case errors.As(err, &choice):
			unplaced[i], nodes = true, choice.Nodes
		case err != nil:
			p.failed[i] = failureOf(r.ask, err)
		}
	}
	p.interrupt = r.wait(calls, p, unplaced, nodes)
	return p, nil
}

// readPolicy says which tools ask. It waits for a database that is away, for as long as the run's steps do; then the run is
// left to be adopted.
func (r *run) readPolicy() (approval.Policy, error) {
	for over := time.Now().Add(policyPatience); ; {
		settings, err := r.e.deps.Decisions.ApprovalSettings(r.ask, r.lease.User)
		switch {
		case err == nil:
			return approval.Policy{
				RunMode: r.settings.mode(), Mode: approval.Mode(settings.Mode), Allowed: settings.Allowed,
				Config: r.settings.Invoke.GetToolInterruptConfig(),
			}, nil
		case !errors.Is(err, refusal.Unavailable):
			return approval.Policy{}, err
		case time.Now().After(over):
			return approval.Policy{}, &keepError{err}
		}
		if !sleep.For(r.ask, policyPause) {
			return approval.Policy{}, context.Cause(r.ask)
		}
	}
}

// check says why a call is not sent. t is nil where no tool has its name.
func (k *kit) check(c *store.Call, t tool.Tool) *tool.Failure {
	invalid := func(format string, args ...any) *tool.Failure {
		return &tool.Failure{Outcome: tool.Invalid, Message: fmt.Sprintf(format, args...)}
	}
	switch {
	case c.Position >= maxCalls:
		return invalid("at most %d calls of one answer run; call it again", maxCalls)
	case t == nil && k.unlisted != nil:
		return k.unlisted
	case t == nil:
		return invalid("there is no tool with this name")
	case c.Args == nil:
		return invalid("the arguments must be one JSON object")
	}
	var failure *tool.Failure
	if err := tool.CheckArguments(t.Spec(), c.Args); errors.As(err, &failure) {
		return failure
	}
	return nil
}

// judge is where every call of a run is decided on, its sub-agents' too: it finds out where the call would run, on which
// node, or whose tool it is, and says whether it runs, asks or is refused. A call that is refused is not placed. The error is
// why it can run nowhere yet, or not at all; the decision then holds for any place.
func (r *run) judge(ctx context.Context, policy approval.Policy, c *store.Call, t tool.Tool) (approval.Decision, error) {
	spec := t.Spec()
	d := policy.Decide(spec, tool.Place{})
	placed, ok := t.(tool.Placed)
	if !ok || d.Verdict == approval.Refuse {
		c.Node, c.NodeMark = "", ownerOf(spec)
		return r.pinned(ctx, d, spec, tool.Place{}), nil
	}
	at, err := placed.Place(ctx)
	c.Node, c.NodeMark = at.Node, at.Mark
	if err != nil {
		return d, err
	}
	return r.pinned(ctx, policy.Decide(spec, at), spec, at), nil
}

// pinned is a decision after the fingerprint that it rests on was kept, where it has to be: what the tool becomes later asks.
func (r *run) pinned(ctx context.Context, d approval.Decision, spec tool.Spec, at tool.Place) approval.Decision {
	if !d.Pin {
		return d
	}
	kept, err := r.e.deps.Decisions.Pin(ctx, r.lease.User, approval.Entry(spec, at))
	if err != nil || !kept {
		r.log.WarnContext(ctx, "an allowed tool asks: what it is now could not be kept", "error", err)
		return approval.Decision{Verdict: approval.Ask, Reason: "what it is now could not be kept with your allow-list"}
	}
	return d
}

// refused is a call that the mode of the run does not permit.
func refused(d approval.Decision) *tool.Failure {
	return &tool.Failure{Outcome: tool.Refused, Message: d.Reason}
}

// wait sets how the calls go on, and returns what has to be answered first.
func (r *run) wait(calls []store.Call, p plan, unplaced []bool, nodes []*nodev1.Node) *agentv1.Interrupt {
	in := &agentv1.Interrupt{InterruptId: newInterruptID(), Reason: reasonApproval}
	waits := p.asks
	if len(nodes) > 0 {
		in.Reason, in.AvailableNodes, waits = reasonSelection, nodes, unplaced
	}
	expires := time.Now().Add(r.ahead + r.e.cfg.DecideWithin).UTC().Truncate(time.Millisecond)
	for i := range calls {
		c := &calls[i]
		switch {
		case c.State != store.Waiting || p.failed[i] != nil:
		case waits[i]:
			c.Interrupt, c.Expires = in.GetInterruptId(), expires
			c.Digest = approval.Digest(r.lease.Session, c.ID, c.Tool, c.Args, c.Node, c.NodeMark)
			in.ToolCalls = append(in.ToolCalls, r.pending(c, p.decisions[i], in.GetReason()))
		case !p.asks[i] && !unplaced[i]:
			c.State = store.Ready
		}
	}
	if len(in.GetToolCalls()) == 0 {
		return nil
	}
	return in
}

// pending is how a call is shown to the person who has to decide about it.
func (r *run) pending(c *store.Call, d approval.Decision, reason string) *agentv1.PendingCall {
	shown := &agentv1.PendingCall{
		ToolCallId: c.ID, ToolName: c.Tool, ToolArgsJson: c.Args, NodeId: c.Node, Digest: c.Digest, ExpiresAt: timestamppb.New(c.Expires),
	}
	if reason != reasonApproval {
		return shown
	}
	e := approval.Entry(r.kit.toolOf(c).Spec(), tool.Place{Node: c.Node, Mark: c.NodeMark})
	shown.Allow = &agentv1.AllowedTool{Layer: e.Layer, Source: e.Source, Tool: e.Tool, Fingerprint: e.Fingerprint}
	shown.Why = d.Reason
	return shown
}

// planAgain plans calls that wait although nothing is asked any more: a node was chosen.
func (r *run) planAgain() error {
	p, err := r.plan(r.calls)
	if err != nil {
		return err
	}
	return r.follow(p)
}

// follow puts a plan for the run's calls on the page, and interrupts the run where it has to.
func (r *run) follow(p plan) error {
	for i := range r.calls {
		switch c := &r.calls[i]; {
		case p.failed[i] != nil:
			r.endCall(c, unanswered(p.failed[i]))
		case isOpen(c):
			r.set(*c)
		}
	}
	if p.interrupt != nil {
		return r.interrupt(p.interrupt)
	}
	return nil
}

// selectionFailure is a call for whose node nobody can be asked any more.
var selectionFailure = &tool.Failure{
	Outcome: tool.NotDelivered, Reason: string(errs.RequiresSelection), Message: "several nodes are connected, and none is chosen for this conversation",
}
