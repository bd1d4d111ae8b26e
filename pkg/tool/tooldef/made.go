package tooldef

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hecaton-dev/hecaton/pkg/node/nodetype"
	"github.com/hecaton-dev/hecaton/pkg/tool/toolname"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
)

// Made returns a definition of a tool for which its node gave none: that of the well-known tool of this name, else one that says
// whose tool it is and takes any object.
func Made(name string, node *nodev1.NodeInfo) Definition {
	d, ok := Known(name, node)
	if !ok {
		return Definition{Name: name, Description: unknown(name, node), InputSchema: json.RawMessage(`{"type":"object","properties":{},"additionalProperties":true}`)}
	}
	return d
}

// Known returns the definition of the well-known tool of a name on a node; ok is false where there is none.
func Known(name string, node *nodev1.NodeInfo) (_ Definition, ok bool) {
	d, ok := lookUp(name, node.GetNodeType())
	if !ok {
		return Definition{}, false
	}
	properties := maps.Clone(d.Properties)
	if d.Tab && slices.Contains(node.GetAvailableTools(), "list_tabs") {
		properties["tabId"] = tabID
	}
	made := Definition{Name: name, Description: d.Description, InputSchema: object(properties, d.Required)}
	if d.ReadOnly {
		made.Annotations.ReadOnlyHint = &d.ReadOnly
	}
	return made, true
}

func unknown(name string, node *nodev1.NodeInfo) string {
	if workflow, found := strings.CutPrefix(name, workflowPrefix); found {
		return fmt.Sprintf("Runs the workflow %s that the user has published on %s. list_workflows tells its variables.",
			Quote(workflow, toolname.MaxBytes), Describe(node))
	}
	return fmt.Sprintf("A tool of %s, which calls it %s. What it takes is not documented: go by its name.", Describe(node), Quote(name, toolname.MaxBytes))
}

var tabID = json.RawMessage(`{"type":"integer","description":"The tab, as list_tabs names it; the active one where this is left out"}`)

// object is a JSON Schema of an object.
func object(properties map[string]json.RawMessage, required []string) json.RawMessage {
	if properties == nil {
		properties = map[string]json.RawMessage{}
	}
	schema := map[string]any{"type": "object", "properties": properties}
	if len(required) > 0 {
		schema["required"] = required
	}
	raw, _ := json.Marshal(schema) // of strings and valid JSON
	return raw
}

// How much of what a node says of itself is shown to a model, in bytes.
const (
	maxName = 128
	maxOS   = 64
)

// Describe names a node for a model, quoted, so that the node's words do not pass for ours.
func Describe(node *nodev1.NodeInfo) string {
	return fmt.Sprintf("the node %s (%s)", Quote(NodeName(node), maxName), NodeKind(node))
}

// NodeKind is what a node is: a browser or a desktop, and of which system it says that it is.
func NodeKind(node *nodev1.NodeInfo) string {
	kind := nodetype.Name(node.GetNodeType())
	if kind == "extension" {
		kind = "browser"
	}
	if os := node.GetOs(); os != "" {
		kind += ", " + Quote(os, maxOS)
	}
	return kind
}

// NodeName is the node's name for people, or its id.
func NodeName(node *nodev1.NodeInfo) string {
	if name := node.GetNodeName(); name != "" {
		return name
	}
	return node.GetNodeId()
}
