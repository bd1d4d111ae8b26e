package tool

import (
	"context"
	"fmt"
)

// The modes of a run (seed 001; facts, 8.2).
const (
	ModeAgent = "agent"
	ModeAsk   = "ask"
	ModePlan  = "plan"
)

// Filter returns what an agent is offered in a mode (facts, 8.2).
//
//	category                 agent   ask                  plan
//	todo list, sub-agents    all     all                  all
//	workspace files          all     those that read      those that read
//	MCP and OAuth            all     those that read      those that read
//	browsers and desktops    all     none                 none
//
// A sub-agent has the tools of its run, and so can do no more than that. In ask mode the other tools stay in sight as
// placeholders: they do nothing but tell the agent to send the user to agent mode. In plan mode they are hidden. Any other
// mode counts as plan.
func Filter(mode string, tools []Tool) []Tool {
	if mode == ModeAgent {
		return tools
	}
	var out []Tool
	for _, t := range tools {
		switch {
		case harmless(t.Spec()):
			out = append(out, t)
		case mode == ModeAsk:
			out = append(out, placeholder{t.Spec()})
		}
	}
	return out
}

// harmless reports whether a tool runs where nothing may change.
func harmless(s Spec) bool {
	switch s.Category {
	case TodoList, SubAgent:
		return true
	case Filesystem, Service:
		return s.ReadOnly
	}
	return false
}

// placeholder stands in for a tool that may not run. It is not Placed, so nobody is asked for a node.
type placeholder struct{ spec Spec }

func (p placeholder) Spec() Spec {
	s := p.spec
	s.Description = "Not available in Ask mode; it can be used in Agent mode. " + s.Description
	s.ReadOnly, s.Confirm = true, false
	return s
}

func (p placeholder) Call(context.Context, Invocation) (Result, error) {
	return Result{IsError: true, Text: fmt.Sprintf(
		"%s was not run: this conversation is in Ask mode, in which nothing can be changed and no browser or desktop is used. "+
			"Do not try again. Tell the user to switch to Agent mode for this.", p.spec.Name)}, nil
}
