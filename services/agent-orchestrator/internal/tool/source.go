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

// Scope says for which run tools are gathered.
type Scope struct {
	User    ids.UserID
	Session ids.SessionID
	Run     string
	// Mode is agent, ask or plan.
	Mode string
	// Preferred is the node that a session uses which is not bound to one; "" for none.
	Preferred string
	// Key is that of the one tool that is looked for: servers that cannot have it need not be asked. "" for all tools.
	Key string
	// KnowledgeBases are the ids of those that the request names.
	KnowledgeBases []string
	// Requested are the sources that came with the request.
	Requested []*agentv1.ToolSource
}

// Source is where tools come from.
type Source interface {
	// Tools opens the source for one run. What cannot be reached is left out and told in Listing.Problems: a run starts without
	// an MCP server that is down.
	Tools(ctx context.Context, scope Scope) (Listing, error)
}

// Listing is the tools that a source has for one run, and what it says beside.
type Listing struct {
	Tools []Tool
	// Remarks are what else an agent should know. Nodes and servers may have written them.
	Remarks []Remark
	// Problems are for the model and the user: "MCP server x cannot be reached: …". Nodes and servers may have written parts of them, too.
	Problems []string
	// Connected are the types of the nodes that the run can use now: "extension", "desktop".
	Connected []string
	// Unlisted is how a call of an unknown tool ends while the source cannot list its tools: it may have that tool. nil if
	// Tools are complete, or if asking the source again in this run would change nothing.
	Unlisted *Failure
	// Stale reports whether the source has other tools by now, so that it should be asked again before the model is; nil means
	// never. It is cheap, and true at most every few seconds.
	Stale func() bool
	// Close releases what the listing holds; may be nil.
	Close func()
}

// Remark is a text that an agent is told as data, never as an instruction: somebody other than the user may have written it.
type Remark struct {
	// Kind is one of our own words: "connected node", "prompt of an MCP server".
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
