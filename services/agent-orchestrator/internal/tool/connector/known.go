package connector

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/node/nodetype"
	"github.com/hecaton-dev/hecaton/pkg/tool/toolname"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

// known.json is what models are told of well-known tools: those of docs/protocols/zeus-agents.md#well-known-tools, and of our
// own desktop node and browser extension. It only affects how well a model uses a tool.
//
//go:embed known.json
var knownJSON []byte

// definition is one entry of known.json.
type definition struct {
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

var known = func() map[string][]definition {
	var list []definition
	if err := json.Unmarshal(knownJSON, &list); err != nil {
		panic("connector: known.json: " + err.Error()) // a mistake of the build, which a test finds
	}
	byName := map[string][]definition{}
	for _, d := range list {
		byName[d.Name] = append(byName[d.Name], d)
	}
	return byName
}()

// Reads are the names of the tools that, by the table, change nothing on any type of node.
func Reads() (names []string) {
	for name, list := range known {
		if !slices.ContainsFunc(list, func(d definition) bool { return !d.ReadOnly }) {
			names = append(names, name)
		}
	}
	return names
}

// lookUp returns the entry of a tool on a type of node.
func lookUp(name, node string) (definition, bool) {
	for _, d := range known[name] {
		if d.Node == "" || d.Node == node || node == "" {
			return d, true
		}
	}
	return definition{}, false
}

var tabID = json.RawMessage(`{"type":"integer","description":"The tab, as list_tabs names it; the active one where this is left out"}`)

// specOf describes a tool of a node.
func specOf(name string, n *nodev1.Node) tool.Spec {
	spec := tool.Spec{Name: name, Layer: tool.Connector, Category: tool.Device, Timeout: longest(name)}
	d, ok := lookUp(name, nodetype.Name(n.GetInfo().GetNodeType()))
	if !ok {
		d = definition{Description: fmt.Sprintf("A tool of %s, which calls it %s. What it takes is not documented: go by its name.",
			describe(n), tool.Quote(name, toolname.MaxBytes))}
		if workflow, found := strings.CutPrefix(name, workflowPrefix); found {
			d.Description = fmt.Sprintf("Runs the workflow %s that the user has published on %s. list_workflows tells its variables.",
				tool.Quote(workflow, toolname.MaxBytes), describe(n))
		}
	}
	properties := maps.Clone(d.Properties)
	if d.Tab && slices.Contains(n.GetInfo().GetAvailableTools(), "list_tabs") {
		properties["tabId"] = tabID
	}
	spec.Description, spec.ReadOnly = d.Description, d.ReadOnly
	spec.Parameters = schema(properties, d.Required, ok)
	return spec
}

// schema is a JSON Schema of an object. That of an unknown tool says that it takes any member; that of a known tool does not
// need to.
func schema(properties map[string]json.RawMessage, required []string, isKnown bool) json.RawMessage {
	if properties == nil {
		properties = map[string]json.RawMessage{}
	}
	object := map[string]any{"type": "object", "properties": properties}
	if len(required) > 0 {
		object["required"] = required
	}
	if !isKnown {
		object["additionalProperties"] = true
	}
	raw, _ := json.Marshal(object) // of strings and valid JSON
	return raw
}

const (
	// defaultTimeout is that of docs/protocols/zeus-nodes.md#calls.
	defaultTimeout = 60 * time.Second
	// workflowTimeout is that of a workflow (docs/protocols/zeus-nodes.md#workflows).
	workflowTimeout = 300 * time.Second
	// maxWait bounds the waiting time that a call may set for its tool.
	maxWait = time.Hour
	// answering is how much longer than its own timeout a tool may take to report the timeout.
	answering = 5 * time.Second

	workflowPrefix = "workflow_"
)

// longest is how long any call of a tool may take.
func longest(name string) time.Duration {
	if d, ok := lookUp(name, ""); ok && d.Wait != "" {
		return maxWait + answering
	}
	return callTimeout(name, nil)
}

// callTimeout is how long one call may take: a tool that has a timeout among its arguments decides itself, within reason
// (docs/protocols/zeus-agents.md#well-known-tools: hitl_prompt waits for a person).
func callTimeout(name string, args json.RawMessage) time.Duration {
	if strings.HasPrefix(name, workflowPrefix) {
		return workflowTimeout
	}
	d, ok := lookUp(name, "")
	if !ok || d.Wait == "" {
		return defaultTimeout
	}
	var members map[string]json.RawMessage
	var count float64
	if json.Unmarshal(args, &members) != nil || json.Unmarshal(members[d.Wait], &count) != nil || count <= 0 {
		return defaultTimeout
	}
	unit := time.Second
	if d.WaitUnit == "ms" {
		unit = time.Millisecond
	}
	wait := maxWait
	if count < float64(maxWait/unit) {
		wait = time.Duration(count * float64(unit))
	}
	return max(defaultTimeout, wait+answering)
}
