package approval

import (
	"slices"

	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

// Mode is a user's answer to "which tools ask?" (facts, 5.1).
type Mode string

// The modes.
const (
	// RunEverything is a new user's.
	RunEverything Mode = "run_everything"
	UseAllowlist  Mode = "use_allowlist"
	AskEverytime  Mode = "ask_everytime"
)

// Known reports whether m is one of the modes.
func (m Mode) Known() bool { return m == RunEverything || m == UseAllowlist || m == AskEverytime }

// Policy is what the user set up and the request said.
type Policy struct {
	// Mode: one that is not known asks every time.
	Mode Mode
	// Allowlist has the tools that do not ask in mode [UseAllowlist].
	Allowlist []string
	// Config is the request's tool_interrupt_config, by tool.
	Config map[string]*agentv1.InterruptRule
}

// Asks reports whether a call of the tool waits for a person.
//
// A tool that asks by its own definition, or by a rule of the request that is enabled and requires an interrupt, asks in
// every mode. Otherwise the mode decides: a rule that is disabled, or requires no interrupt, says that the request does
// not ask for a pause, and takes away none that the user asked for.
//
// A rule that asks holds for a server's tool under its own name, too: the request cannot know that another server has one of
// that name, for which both are renamed. That a tool is on the allowlist says nothing of another by that name.
func (p Policy) Asks(spec tool.Spec) bool {
	if spec.Confirm || p.ruled(spec.Name) || spec.OwnName != "" && p.ruled(spec.OwnName) {
		return true
	}
	switch p.Mode {
	case RunEverything, "":
		return false
	case UseAllowlist:
		return !slices.Contains(p.Allowlist, spec.Name)
	default:
		return true
	}
}

// ruled reports whether the request has every call of a tool wait.
func (p Policy) ruled(name string) bool {
	rule := p.Config[name]
	return rule.GetEnabled() && rule.GetRequiresInterrupt()
}
