package tooldef

import (
	_ "embed"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/node/nodetype"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
)

// known.json is what models are told of well-known tools that come without a definition: those of
// docs/protocols/zeus-agents.md#well-known-tools, and of older desktop nodes and browser extensions of ours.
//
//go:embed known.json
var knownJSON []byte

// knownTool is one entry of known.json.
type knownTool struct {
	Name string `json:"name"`
	// Node is the type of node to which the entry applies; "" for both.
	Node        string                     `json:"node"`
	Description string                     `json:"description"`
	ReadOnly    bool                       `json:"read_only"`
	Required    []string                   `json:"required"`
	Properties  map[string]json.RawMessage `json:"properties"`
	// Tab says that the tool takes the tabId of a node that also offers list_tabs.
	Tab bool `json:"tab"`
	// Wait names the argument that says how long the tool itself waits, and WaitUnit its unit: "s" or "ms".
	Wait     string `json:"wait"`
	WaitUnit string `json:"wait_unit"`
}

var known = func() map[string][]knownTool {
	var list []knownTool
	if err := json.Unmarshal(knownJSON, &list); err != nil {
		panic("tooldef: known.json: " + err.Error()) // a mistake of the build, which a test finds
	}
	byName := map[string][]knownTool{}
	for _, d := range list {
		byName[d.Name] = append(byName[d.Name], d)
	}
	return byName
}()

// Reads are the names of the tools that, by the table, change nothing on any type of node.
func Reads() (names []string) {
	for name, list := range known {
		if !slices.ContainsFunc(list, func(d knownTool) bool { return !d.ReadOnly }) {
			names = append(names, name)
		}
	}
	return names
}

// KnownReadOnly reports whether, by the table, a tool of this name changes nothing on a type of node.
func KnownReadOnly(name string, on nodev1.NodeType) bool {
	d, ok := lookUp(name, on)
	return ok && d.ReadOnly
}

// lookUp returns the entry of a tool on a type of node; UNSPECIFIED is any.
func lookUp(name string, on nodev1.NodeType) (knownTool, bool) {
	for _, d := range known[name] {
		if d.Node == "" || on == nodev1.NodeType_NODE_TYPE_UNSPECIFIED || d.Node == nodetype.Name(on) {
			return d, true
		}
	}
	return knownTool{}, false
}

const (
	// DefaultTimeout is how long a call waits that says nothing else (docs/protocols/zeus-nodes.md#calls).
	DefaultTimeout = 60 * time.Second
	// WorkflowTimeout is how long a workflow may take (docs/protocols/zeus-nodes.md#workflows).
	WorkflowTimeout = 300 * time.Second
	// maxWait bounds the waiting time that a call may set for its tool.
	maxWait = time.Hour
	// answering is how much longer than its own timeout a tool may take to report the timeout.
	answering = 5 * time.Second

	workflowPrefix = "workflow_"
)

// Timeout is how long one call may take: a tool that has a timeout among its arguments decides itself, within reason
// (docs/protocols/zeus-agents.md#well-known-tools: hitl_prompt waits for a person).
func Timeout(name string, args []byte) time.Duration {
	if strings.HasPrefix(name, workflowPrefix) {
		return WorkflowTimeout
	}
	d, ok := lookUp(name, nodev1.NodeType_NODE_TYPE_UNSPECIFIED)
	if !ok || d.Wait == "" {
		return DefaultTimeout
	}
	var members map[string]json.RawMessage
	var count float64
	if json.Unmarshal(args, &members) != nil || json.Unmarshal(members[d.Wait], &count) != nil || count <= 0 {
		return DefaultTimeout
	}
	unit := time.Second
	if d.WaitUnit == "ms" {
		unit = time.Millisecond
	}
	wait := maxWait
	if count < float64(maxWait/unit) {
		wait = time.Duration(count * float64(unit))
	}
	return max(DefaultTimeout, wait+answering)
}

// LongestTimeout is how long any call of a tool may take.
func LongestTimeout(name string) time.Duration {
	if d, ok := lookUp(name, nodev1.NodeType_NODE_TYPE_UNSPECIFIED); ok && d.Wait != "" {
		return maxWait + answering
	}
	return Timeout(name, nil)
}
