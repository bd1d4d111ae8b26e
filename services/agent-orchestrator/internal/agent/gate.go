package agent

import (
	"context"
	"errors"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/process/sleep"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/agent/journal"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/approval"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

const (
	// policyPatience is how long a run waits for the approval settings while they cannot be read, and policyPause the time
	// between two attempts; the store waits for a while in each attempt, too.
	policyPatience = 15 * time.Second
	policyPause    = 100 * time.Millisecond
)

// The reasons of interrupts.
const (
	reasonApproval  = "approval"
	reasonSelection = "node_selection"
)

// gate is the approval gate: it decides about every call of a run, its sub-agents' too, before the call may start. It is
// static; the goroutine that owns the calls' conversations uses it.
type gate struct{ env *environment }

// review decides about the calls that wait: each is Ready then, or waits on. Where a call runs must be known before anybody
// is asked whether it may. The error is why the run cannot go on now; then nothing was decided.
func (g gate) review(ctx context.Context, calls []proposed) (review, error) {
	found := newReview(calls)
	if len(calls) == 0 {
		return found, nil
	}
	// Read for every answer with calls: a changed setting counts from the next answer on.
	policy, err := g.policy()
	if err != nil {
		return found, err
	}
	for i, p := range calls {
		if p.call.State != store.Waiting {
			continue
		}
		t := p.conv.tools.ToolOf(p.call)
		if found.failed[i] = checkCall(p.conv.tools, p.call, t); found.failed[i] != nil {
			continue
		}
		d, err := g.decide(ctx, policy, p.call, t, len(calls) == 1)
		found.decisions[i], found.asks[i] = d, d.Verdict == approval.Ask
		var choice *tool.Selection
		switch {
		case d.Verdict == approval.Refuse:
			found.failed[i] = &tool.Failure{Outcome: tool.Refused, Message: d.Reason}
		case ctx.Err() != nil:
			return found, context.Cause(ctx)
		case errors.As(err, &choice):
			found.unplaced[i], found.nodes = true, choice.Nodes
		case err != nil:
			found.failed[i] = failureOf(ctx, err)
		}
	}
	found.passReady()
	return found, nil
}

// policy says which tools ask. It waits for a database that is not available about as long as a step of the run does; after
// that the error leaves the run to be adopted.
func (g gate) policy() (approval.Policy, error) {
	env := g.env
	for over := time.Now().Add(policyPatience); ; {
		saved, err := env.deps.Decisions.ApprovalSettings(env.asking, env.lease.User)
		switch {
		case err == nil:
			return approval.Policy{
				RunMode: env.settings.mode(), Mode: approval.Mode(saved.Mode), Allowed: saved.Allowed,
				Config: env.settings.Invoke.GetToolInterruptConfig(), ConfirmAll: env.settings.Invoke.GetConfirmEveryCall(),
			}, nil
		case !errors.Is(err, errs.AgentUnavailable):
			return approval.Policy{}, err
		case time.Now().After(over):
			return approval.Policy{}, &journal.Error{Err: err}
		}
		if !sleep.For(env.asking, policyPause) {
			return approval.Policy{}, context.Cause(env.asking)
		}
	}
}

// decide finds out where a call would run, on which node or from which source, and says whether it runs, asks or is refused.
// For a call that is refused no node is looked up. The error is why the call can run nowhere yet, or not at all; the decision
// then holds for any place. A place that is recalled will do if the call can then start at once.
func (g gate) decide(ctx context.Context, policy approval.Policy, c *store.Call, t tool.Tool, recall bool) (approval.Decision, error) {
	spec := t.Spec()
	d := policy.Decide(spec, tool.Place{})
	placed, ok := t.(tool.Placed)
	if !ok || d.Verdict == approval.Refuse {
		c.Node, c.NodeMark = "", sourceMark(spec)
		return g.pin(ctx, d, spec, tool.Place{}), nil
	}
	if recall {
		if d, ok := recalled(policy, placed, c); ok {
			return d, nil
		}
	}
	at, err := placed.Place(ctx)
	c.Node, c.NodeMark = at.Node, at.Mark
	if err != nil {
		return d, err
	}
	return g.pin(ctx, policy.Decide(spec, at), spec, at), nil
}

// recalled decides about a call where the run's last call was placed, without a look: the call itself looks before it is sent.
// ok is false where that place is not known, or where more is to be done about the call than to run it.
func recalled(policy approval.Policy, t tool.Placed, c *store.Call) (d approval.Decision, ok bool) {
	r, ok := t.(tool.Recalling)
	if !ok {
		return d, false
	}
	at, ok := r.Recall()
	if !ok {
		return d, false
	}
	if d = policy.Decide(t.Spec(), at); d.Verdict != approval.Run || d.Pin {
		return d, false
	}
	r.Rely(c.ID)
	c.Node, c.NodeMark = at.Node, at.Mark
	return d, true
}

// pin keeps what the decision rests on.
func (g gate) pin(ctx context.Context, d approval.Decision, spec tool.Spec, at tool.Place) approval.Decision {
	pinned, err := d.Pinned(ctx, g.env.deps.Decisions, g.env.lease.User, spec, at)
	if pinned != d {
		g.env.log.WarnContext(ctx, "a tool of the allow-list asks: its fingerprint could not be stored", "error", err)
	}
	return pinned
}

// interrupt returns what people have to answer before any of the calls of a review runs, and notes it in the calls that it
// asks about. It returns nil if there is nothing to answer.
func (g gate) interrupt(found review) *agentv1.Interrupt {
	in := &agentv1.Interrupt{InterruptId: newInterruptID(), Reason: reasonApproval}
	asks := found.asks
	if len(found.nodes) > 0 {
		in.Reason, in.AvailableNodes, asks = reasonSelection, found.nodes, found.unplaced
	}
	expires := time.Now().Add(g.env.ahead + g.env.cfg.DecideWithin).UTC().Truncate(time.Millisecond)
	for i, p := range found.calls {
		c := p.call
		if c.State != store.Waiting || found.failed[i] != nil || !asks[i] {
			continue
		}
		c.Interrupt, c.Expires = in.GetInterruptId(), expires
		c.Digest = approval.Digest(g.env.lease.Session, c.ID, c.Tool, c.Args, c.Node, c.NodeMark)
		in.ToolCalls = append(in.ToolCalls, p.pending(found.decisions[i], in.GetReason()))
	}
	if len(in.GetToolCalls()) == 0 {
		return nil
	}
	return in
}

// pending is how a call is shown to the person who decides about it.
func (p proposed) pending(d approval.Decision, reason string) *agentv1.PendingCall {
	c := p.call
	shown := &agentv1.PendingCall{
		ToolCallId: c.ID, ToolName: c.Tool, ToolArgsJson: c.Args, NodeId: c.Node, Digest: c.Digest, ExpiresAt: timestamppb.New(c.Expires),
		ParentToolCallId: p.conv.parent,
	}
	if reason != reasonApproval {
		return shown
	}
	e := approval.Entry(p.conv.tools.ToolOf(c).Spec(), tool.Place{Node: c.Node, Mark: c.NodeMark})
	shown.Allow = &agentv1.AllowedTool{Layer: e.Layer, Source: e.Source, Tool: e.Tool, Fingerprint: e.Fingerprint}
	shown.Why = d.Reason
	return shown
}
