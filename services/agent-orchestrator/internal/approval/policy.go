package approval

import (
	"context"
	"fmt"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

// Mode is a user's answer to "which tools ask?".
type Mode string

// The modes. A user who has chosen none has [UseAllowlist].
const (
	RunEverything Mode = "run_everything"
	UseAllowlist  Mode = "use_allowlist"
	AskEverytime  Mode = "ask_everytime"
)

// Known reports whether m is one of the modes.
func (m Mode) Known() bool { return m == RunEverything || m == UseAllowlist || m == AskEverytime }

// Policy is what the user set up and the request said. It decides about every call of an agent, in every mode of a run, the
// calls of sub-agents included: [Policy.Decide].
type Policy struct {
	// RunMode is agent, ask or plan; any other counts as plan.
	RunMode string
	// Mode: one that is not known asks every time.
	Mode Mode
	// Allowed are the tools that do not ask in mode [UseAllowlist].
	Allowed []store.AllowedTool
	// Config is the request's tool_interrupt_config, by tool.
	Config map[string]*agentv1.InterruptRule
	// ConfirmAll says that the request has every call wait, whatever else says that it runs.
	ConfirmAll bool
}

// Verdict is what becomes of a call.
type Verdict string

// The verdicts.
const (
	Run    Verdict = "run"
	Ask    Verdict = "ask"
	Refuse Verdict = "refuse"
)

// Decision is a verdict, and why.
type Decision struct {
	Verdict Verdict
	// Reason is a clause for people and models: "its definition asks for a confirmation".
	Reason string
	// Pin says that the call runs by an entry of the allow-list that has no fingerprint yet: the call's own must be kept with
	// it before the call runs.
	Pin bool
}

// Decide says what becomes of a call of a tool that would run at a place; the zero Place where it is not known yet, or the
// tool runs on no node.
//
// What the run's mode does not permit is refused, whatever else holds. A tool that asks by its own definition, or by a rule
// of the request that is enabled and requires an interrupt, asks then. Otherwise the user's mode decides: a rule that is
// disabled, or requires no interrupt, says that the request does not ask for a pause, and takes away none that the user
// asked for.
//
// A rule that asks holds for a server's tool under its own name, too: the request cannot know that another server has one of
// that name, for which both are renamed.
func (p Policy) Decide(spec tool.Spec, at tool.Place) Decision {
	switch {
	case !p.permits(spec):
		return Decision{Verdict: Refuse, Reason: p.refusal()}
	case p.ConfirmAll:
		return Decision{Verdict: Ask, Reason: "the request asks for every call to be confirmed"}
	case spec.Confirm:
		return Decision{Verdict: Ask, Reason: "its definition asks for a confirmation"}
	case p.ruled(spec.Name) || spec.OwnName != "" && p.ruled(spec.OwnName):
		return Decision{Verdict: Ask, Reason: "the request's tool_interrupt_config asks for it"}
	}
	switch p.Mode {
	case RunEverything:
		return Decision{Verdict: Run, Reason: "you run everything"}
	case UseAllowlist:
		return p.listed(spec, at)
	}
	return Decision{Verdict: Ask, Reason: "you are asked every time"}
}

// Pinner keeps the fingerprint of a tool with a user's allow-list (package store).
type Pinner interface {
	Pin(ctx context.Context, user ids.UserID, t store.AllowedTool) (pinned bool, err error)
}

// Pinned keeps the fingerprint of the tool with the allow-list where the decision rests on it, so that the tool asks again once it
// changes. A tool whose fingerprint could not be kept asks now; the error, if there is one, says why.
func (d Decision) Pinned(ctx context.Context, p Pinner, user ids.UserID, spec tool.Spec, at tool.Place) (Decision, error) {
	if !d.Pin {
		return d, nil
	}
	if pinned, err := p.Pin(ctx, user, Entry(spec, at)); err != nil || !pinned {
		return Decision{Verdict: Ask, Reason: "what it is now could not be kept with your allow-list"}, err
	}
	return d, nil
}

// ruled reports whether the request has every call of a tool wait.
func (p Policy) ruled(name string) bool {
	rule := p.Config[name]
	return rule.GetEnabled() && rule.GetRequiresInterrupt()
}

// permits reports whether a tool may run at all in the run's mode.
func (p Policy) permits(s tool.Spec) bool {
	if p.RunMode == tool.ModeAgent {
		return true
	}
	switch s.Category {
	case tool.TodoList, tool.SubAgent, tool.Lookup, tool.Skills, tool.Knowledge:
		return true
	case tool.Filesystem, tool.Service:
		return s.ReadOnly
	case tool.Memory:
		return s.ReadOnly && p.RunMode == tool.ModePlan
	}
	return false
}

// refusal tells an agent why the mode does not permit a tool.
func (p Policy) refusal() string {
	if p.RunMode == tool.ModeAsk {
		return "this conversation is in Ask mode, in which nothing can be changed and no browser or desktop is used. " +
			"Do not try again. Tell the user to switch to Agent mode for this"
	}
	return fmt.Sprintf("this conversation is in %s mode, in which nothing can be changed and no browser or desktop is used", p.RunMode)
}
