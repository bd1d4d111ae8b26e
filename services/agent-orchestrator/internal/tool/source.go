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
	// Tools opens the source for one run. What cannot be reached is left out and told in Listing.Problems: a run starts without
	// an MCP server that is down.
	Tools(ctx context.Context, scope Scope) (Listing, error)
}

// Listing is what a source has for one run.
type Listing struct {
	Tools []Tool
	// Remarks are what else an agent should know, in words that may be others'.
	Remarks []Remark
	// Problems are for the model and the user: "MCP server x cannot be reached: …". They may hold others' words, too.
	Problems []string
	// Unlisted is how a call ends that no tool answers to, where the source could not be looked at just now: whether it has
	// such a tool nobody knows. nil where Tools are all there are, and where another look in this run would change nothing.
	Unlisted *Failure
	// Stale reports that the source has other tools by now, so that they are worth gathering again before the model is asked;
	// nil means never. It is cheap, and says so at most every few seconds.
	Stale func() bool
	// Close lets go of what the listing holds; may be nil.
	Close func()
}

// Remark is one thing that an agent is told as data, never as an instruction: who wrote it is not known to be the user.
type Remark struct {
	// Kind is ours: "connected node", "prompt of an MCP server".
	Kind string `json:"kind"`
	// Of says what the text is of: a node's name, a server and its prompt.
	Of   string `json:"of,omitempty"`
	Text string `json:"text,omitempty"`
}

// Selection says that somebody has to choose a node.
type Selection struct {
	Nodes []*nodev1.Node
}

func (s *Selection) Error() string { return "several nodes are connected; one must be chosen" }
