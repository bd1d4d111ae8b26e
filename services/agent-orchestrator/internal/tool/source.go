package tool

import (
	"context"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
)

// The modes of a run.
const (
	ModeAgent = "agent"
	ModeAsk   = "ask"
	ModePlan  = "plan"
)

// Scope is for whom tools are gathered.
type Scope struct {
	User    ids.UserID
	Session ids.SessionID
	Run     string
	// Mode is agent, ask or plan.
	Mode string
	// Preferred is where an unbound session should go.
	Preferred string
	// Requested are the sources that the request brought along.
	Requested []*agentv1.ToolSource
}

// Source is where tools come from.
type Source interface {
	// Tools opens the source for one run. What cannot be reached is left out and told in Kit.Problems: a run starts without
	// an MCP server that is down.
	Tools(ctx context.Context, scope Scope) (Kit, error)
}

// Kit is what a source has for one run.
type Kit struct {
	Tools []Tool
	// Prompts go into the system prompt.
	Prompts []string
	// Problems are for the model and the user: "MCP server x cannot be reached: …".
	Problems []string
	// Unlisted is how a call ends that no tool answers to, where the source could not be looked at just now: whether it has
	// such a tool nobody knows. nil where Tools are all there are, and where another look in this run would change nothing.
	Unlisted *Failure
	// Stale reports that the source has other tools by now, so that they are worth gathering again before the model is asked;
	// nil means never. It is cheap, and says so at most every few seconds.
	Stale func() bool
	// Close lets go of what the kit holds; may be nil.
	Close func()
}

// Selection says that somebody has to choose a node.
type Selection struct {
	Nodes []*nodev1.Node
}

func (s *Selection) Error() string { return "several nodes are connected; one must be chosen" }
