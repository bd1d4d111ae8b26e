package tool

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/tool/tooldef"
)

// Layer is where a tool comes from.
type Layer string

// The layers (docs/protocols/zeus-agents.md#tool-layers).
const (
	Builtin   Layer = "builtin"
	MCP       Layer = "mcp"
	OAuth     Layer = "oauth"
	Connector Layer = "connector"
)

// Category is what the mode filter goes by (docs/protocols/zeus-agents.md#modes).
type Category string

// The categories.
const (
	Filesystem Category = "filesystem"
	TodoList   Category = "todo"
	SubAgent   Category = "subagent"
	Knowledge  Category = "knowledge"
	Lookup     Category = "lookup"  // of tools that a model was not told of
	Memory     Category = "memory"  // of what was said before
	Skills     Category = "skills"  // texts that say how work is done
	Service    Category = "service" // MCP and OAuth
	Device     Category = "device"  // browser and desktop
)

// Spec describes a tool.
type Spec struct {
	// Name is the name for people and in settings; [ModelName] is the name for models, and [Key] identifies the tool for good.
	Name        string
	Description string
	// Parameters is a JSON Schema of type object.
	Parameters json.RawMessage
	Layer      Layer
	Category   Category
	// Server names the MCP server that has the tool, as a prefix of Name where names collide; "" for other layers.
	Server string
	// OwnName is what its source calls a tool whose Name is another, since others have it too (see [Label]); "" for all others.
	OwnName string
	// Provider is that of an OAuth tool; "" for other layers.
	Provider string
	// Fingerprint changes where an MCP server's tool, or the address of the server, does; "" for other layers.
	Fingerprint string
	// ReadOnly tools change nothing anywhere: a table of ours says so, or a server that the user trusts.
	ReadOnly bool
	// Confirm asks a person in every approval mode: the tool's own definition says so.
	Confirm bool
	// Parallel tools may run beside others of the same answer.
	Parallel bool
	// Timeout is how long one call may take; 0 means 60 s (docs/protocols/zeus-nodes.md#calls).
	Timeout time.Duration
}

// own is the tool's name at its source.
func (s Spec) own() string { return cmp.Or(s.OwnName, s.Name) }

// Tool is one tool of one run. Its methods may be called from several goroutines.
type Tool interface {
	Spec() Spec
	// Call runs it until ctx ends. It returns a *Failure if the tool did not answer; any other error counts as outcome
	// unknown.
	Call(ctx context.Context, in Invocation) (Result, error)
}

// Invocation is one call.
type Invocation struct {
	User    ids.UserID
	Session ids.SessionID
	Run     string
	CallID  string
	// Args is a JSON object.
	Args json.RawMessage
	// Node and NodeMark are where it must run, for tools that are Placed.
	Node     string
	NodeMark string
	// Approved: a person was asked, and shown this place. Then it has to be that very connection.
	Approved bool
	// Progress is told what the tool says of its progress: the params of a notifications/progress, without the token. It must not
	// block. nil where nobody wants to hear of it.
	Progress func(params []byte)
}

// Defined is a tool whose source defined it as a tool object of MCP.
type Defined interface {
	Tool
	// Definition is what the source said, checked and bounded, without what nobody has reason to believe.
	Definition() tooldef.Definition
}

// Placed is a tool that runs on one of the user's nodes.
type Placed interface {
	Tool
	// Place says on which node a call would run now. A *Selection error says that somebody must choose; a *Failure that it
	// can run nowhere.
	Place(ctx context.Context) (Place, error)
}

// Recalling is a tool that is Placed, and knows without a look where the run's last call was placed.
type Recalling interface {
	Placed
	// Recall returns that place, if it is likely to be where a call would run now. Nobody is asked about a place that was
	// only recalled.
	Recall() (at Place, known bool)
	// Rely says that a call was placed so. It looks before it is sent, as all calls do, and if it would run elsewhere it fails
	// with a *Moved; then nothing is recalled before the next Place.
	Rely(callID string)
}

// Prepared is a tool whose calls begin with something that takes time and has no effect.
type Prepared interface {
	Tool
	// Prepare does that, and returns the rest of the call, which is used at most once, and not before it is stored that the
	// call has started. Call does both.
	Prepare(ctx context.Context, in Invocation) (rest func(context.Context) (Result, error))
}

// Place is one node.
type Place struct {
	Node string
	// Mark changes where another device takes the same node id, or the same one connects anew: type, name and system of the
	// node, and behind the last "|" its connection.
	Mark string
}

// Device is what of the mark stays where the same device connects anew.
func (p Place) Device() string {
	if at := strings.LastIndexByte(p.Mark, '|'); at >= 0 {
		return p.Mark[:at]
	}
	return p.Mark
}

// Moved is the failure of a call that has to be decided about again: an approved one whose node has another connection than
// the one that was shown, or one that was placed as Recall said and would run elsewhere. It was not delivered.
type Moved struct{ Failure }

// Unwrap returns the failure, which is what it is where nobody can be asked.
func (m *Moved) Unwrap() error { return &m.Failure }

// Result is what a tool answered.
type Result struct {
	// Text is what the model is told.
	Text    string
	IsError bool
	// Structured is the result as a JSON object, for programs; nil for none. Text says the same.
	Structured json.RawMessage
	// Skill is the skill that this gave the agent; "" for none.
	Skill string
	// Artifacts are images and files; they are stored in the workspace.
	Artifacts []Artifact
	// Node is the node that answered, for connector tools.
	Node string
}

// Artifact is an image or file of a result.
type Artifact struct {
	Type     string // image, file
	MIMEType string
	Name     string // "" lets us choose one
	Data     []byte
}

// Outcomes of calls that were not answered; those of package errs, and Invalid.
const (
	NotDelivered = string(errs.NotDelivered)
	Unknown      = string(errs.Unknown)
	Rejected     = "rejected"
	TimedOut     = "timeout" // nobody decided in time
	Cancelled    = "cancelled"
	Refused      = "refused" // the run's mode does not permit it
	Invalid      = "invalid" // never sent: no such tool, bad arguments
)

// Failure is a call that the tool did not answer.
type Failure struct {
	// Outcome is one of the constants above.
	Outcome string
	// Reason is one of package errs, or "".
	Reason  string
	Message string
}

func (f *Failure) Error() string {
	if f.Reason == "" {
		return f.Outcome + ": " + f.Message
	}
	return f.Reason + ": " + f.Message
}
