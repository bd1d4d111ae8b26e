package agent

import (
	"slices"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/approval"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
)

// selected returns the calls that go on once somebody answered which node to take. Those that need a node wait to be placed
// again, and are asked about then if they have to be; "approved" about one of them says no more than that. Without a node,
// every call needs a decision by which it does not run.
func selected(state store.State, req *agentv1.ResumeRequest) ([]store.Call, error) {
	node := req.GetNodeId()
	if node != "" && !slices.ContainsFunc(state.Interrupt.GetAvailableNodes(), func(n *nodev1.Node) bool { return n.GetInfo().GetNodeId() == node }) {
		return nil, errs.New(errs.InvalidDecision, "node_id %q is none of those to choose from", node)
	}
	open, rest := forNode(state, req)
	for i, c := range open {
		switch {
		case node == "":
			return nil, errs.New(errs.MissingDecision, "node_id is missing: one of the available nodes must be chosen")
		case approval.Expired(c, state.Now):
			return nil, errs.New(errs.ApprovalExpired, "the time to choose a node is over")
		}
		open[i].Interrupt, open[i].Expires = "", time.Time{}
	}
	var decisions []*agentv1.ToolCallDecision
	for _, d := range req.GetToolCallResults() {
		switch goesOn := slices.ContainsFunc(open, func(c store.Call) bool { return c.ID == d.GetToolCallId() }); {
		case !goesOn:
			decisions = append(decisions, d)
		case d.GetDecision() != approval.Approved:
			return nil, errs.New(errs.InvalidDecision, "while a node must be chosen, call %q can be %q, %q or %q",
				d.GetToolCallId(), approval.Approved, approval.Rejected, approval.Timeout)
		}
	}
	decided, err := approval.Check(state.Session.Session, rest, decisions, state.Now)
	if err != nil {
		return nil, err
	}
	return append(decided, open...), nil
}

// forNode divides an interrupt's calls into those that go on with the node, and those about which something was decided.
// Calls that wait although this interrupt did not ask about them are in neither: they are looked at again.
func forNode(state store.State, req *agentv1.ResumeRequest) (open, rest []store.Call) {
	for _, c := range state.AllCalls() {
		refused := slices.ContainsFunc(req.GetToolCallResults(), func(d *agentv1.ToolCallDecision) bool {
			return d.GetToolCallId() == c.ID && (d.GetDecision() == approval.Rejected || d.GetDecision() == approval.Timeout)
		})
		switch {
		case refused || c.State != store.Waiting:
			rest = append(rest, c)
		case c.Interrupt == state.Interrupt.GetInterruptId():
			open = append(open, c)
		}
	}
	return open, rest
}
