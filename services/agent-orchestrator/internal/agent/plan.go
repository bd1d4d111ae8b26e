package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/process/sleep"
	"github.com/hecaton-dev/hecaton/pkg/refusal"
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

// asked is a call, and the conversation in which a model asked for it.
type asked struct {
	t *thread
	c *store.Call
}

// plan is what becomes of calls: those of an answer, or all that wait. Its lists are by their positions.
type plan struct {
	calls []asked
	// asks are the calls that a person has to decide about, and decisions why.
	asks      []bool
	decisions []approval.Decision
	// unplaced are those of which somebody has to say on which of the nodes they run.
	unplaced []bool
	nodes    []*nodev1.Node
	// failed are those that cannot run, and why.
	failed []*tool.Failure
}

// plan decides about the calls that wait: each is Ready then, or waits on. Before anybody is asked whether a call may run, it
// must be known where. The error is why the run cannot go on now; then nothing was planned.
func (r *run) plan(ctx context.Context, calls []asked) (plan, error) {
	p := plan{
		calls: calls, asks: make([]bool, len(calls)), decisions: make([]approval.Decision, len(calls)),
		unplaced: make([]bool, len(calls)), failed: make([]*tool.Failure, len(calls)),
	}
	if len(calls) == 0 {
		return p, nil
	}
	// Read for every answer with calls: who has just chosen to be asked is asked from the next one on.
	policy, err := r.readPolicy()
	if err != nil {
		return p, err
	}
	for i, a := range calls {
		if a.c.State != store.Waiting {
			continue
		}
		of := a.t.kit.toolOf(a.c)
		if p.failed[i] = a.t.kit.check(a.c, of); p.failed[i] != nil {
			continue
		}
		d, err := r.judge(ctx, policy, a.c, of)
		p.decisions[i], p.asks[i] = d, d.Verdict == approval.Ask
		var choice *tool.Selection
		switch {
		case d.Verdict == approval.Refuse:
			p.failed[i] = refused(d)
		case ctx.Err() != nil:
			return p, context.Cause(ctx)
		case errors.As(err, &choice):
			p.unplaced[i], p.nodes = true, choice.Nodes
		case err != nil:
			p.failed[i] = failureOf(ctx, err)
		}
	}
	for i, a := range calls {
		if a.c.State == store.Waiting && p.failed[i] == nil && !p.asks[i] && !p.unplaced[i] {
			a.c.State = store.Ready
		}
	}
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

// question returns what has to be answered before any of the calls runs, and has those that it asks about say so; nil where
// nothing has.
func (r *run) question(p plan) *agentv1.Interrupt {
	in := &agentv1.Interrupt{InterruptId: newInterruptID(), Reason: reasonApproval}
	asks := p.asks
	if len(p.nodes) > 0 {
		in.Reason, in.AvailableNodes, asks = reasonSelection, p.nodes, p.unplaced
	}
	expires := time.Now().Add(r.ahead + r.e.cfg.DecideWithin).UTC().Truncate(time.Millisecond)
	for i, a := range p.calls {
		c := a.c
		if c.State != store.Waiting || p.failed[i] != nil || !asks[i] {
			continue
		}
		c.Interrupt, c.Expires = in.GetInterruptId(), expires
		c.Digest = approval.Digest(r.lease.Session, c.ID, c.Tool, c.Args, c.Node, c.NodeMark)
		in.ToolCalls = append(in.ToolCalls, a.pending(p.decisions[i], in.GetReason()))
	}
	if len(in.GetToolCalls()) == 0 {
		return nil
	}
	return in
}

// pending is how a call is shown to the person who has to decide about it.
func (a asked) pending(d approval.Decision, reason string) *agentv1.PendingCall {
	c := a.c
	shown := &agentv1.PendingCall{
		ToolCallId: c.ID, ToolName: c.Tool, ToolArgsJson: c.Args, NodeId: c.Node, Digest: c.Digest, ExpiresAt: timestamppb.New(c.Expires),
		ParentToolCallId: a.t.parent,
	}
	if reason != reasonApproval {
		return shown
	}
	e := approval.Entry(a.t.kit.toolOf(c).Spec(), tool.Place{Node: c.Node, Mark: c.NodeMark})
	shown.Allow = &agentv1.AllowedTool{Layer: e.Layer, Source: e.Source, Tool: e.Tool, Fingerprint: e.Fingerprint}
	shown.Why = d.Reason
	return shown
}

// planAgain plans the calls that wait although nothing is asked any more: a sub-agent asks, a node was chosen, or what was
// approved is not there as it was shown.
func (r *run) planAgain() error {
	var waiting []asked
	for _, t := range r.threads() {
		for i := range t.calls {
			if c := &t.calls[i]; waits(c) {
				waiting = append(waiting, asked{t, c})
			}
		}
	}
	p, err := r.plan(r.ask, waiting)
	if err != nil {
		return err
	}
	return r.askOrGoOn(p)
}

// follow puts a plan on the pages of its calls.
func (p plan) follow() {
	for i, a := range p.calls {
		switch {
		case p.failed[i] != nil:
			a.t.endCall(a.c, unanswered(p.failed[i]))
		case isOpen(a.c):
			a.t.set(*a.c)
		}
	}
}

// askOrGoOn follows a plan, and interrupts the run where somebody has to answer first.
func (r *run) askOrGoOn(p plan) error {
	question := r.question(p)
	p.follow()
	if question == nil {
		return nil
	}
	return r.interrupt(question)
}

// selectionFailure is a call for whose node nobody can be asked any more.
var selectionFailure = &tool.Failure{
	Outcome: tool.NotDelivered, Reason: string(errs.RequiresSelection), Message: "several nodes are connected, and none is chosen for this conversation",
}
