package approval

import (
	"context"

	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

// Offer returns what an agent is offered in the run's mode.
//
//	category                 agent   ask                  plan
//	todo list, sub-agents    all     all                  all
//	looking tools up         all     all                  all
//	workspace files          all     those that read      those that read
//	MCP and OAuth            all     those that read      those that read
//	browsers and desktops    all     none                 none
//
// A sub-agent has the tools of its run, and so can do no more than that. In ask mode the other tools stay in sight: their
// calls are refused ([Policy.Decide]), and the agent told to send the user to agent mode. In plan mode they are hidden.
func (p Policy) Offer(tools []tool.Tool) []tool.Tool {
	var out []tool.Tool
	for _, t := range tools {
		switch {
		case p.permits(t.Spec()):
			out = append(out, t)
		case p.RunMode == tool.ModeAsk:
			out = append(out, placeholder{t.Spec()})
		}
	}
	return out
}

// placeholder stands in for a tool that may not run. It is not Placed, so nobody is asked for a node.
type placeholder struct{ spec tool.Spec }

func (p placeholder) Spec() tool.Spec {
	s := p.spec
	s.Description = "Not available in Ask mode; it can be used in Agent mode. " + s.Description
	return s
}

// Call refuses, should anybody call it in spite of the decision.
func (p placeholder) Call(context.Context, tool.Invocation) (tool.Result, error) {
	return tool.Result{}, &tool.Failure{Outcome: tool.Refused, Message: Policy{RunMode: tool.ModeAsk}.refusal()}
}
