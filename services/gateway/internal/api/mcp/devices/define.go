package devices

import (
	"strings"
	"unicode"

	"github.com/hecaton-dev/hecaton/pkg/tool/tooldef"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
)

// definition is what is said of a tool.
type definition struct {
	members  []byte // of an MCP tool object, but for its name
	readOnly bool
}

// host is the device of a list's tools: what is said of it is found out once for all of them.
type host struct {
	node  *nodev1.Node
	told  bool
	whole bool // what the device said is known
	about string
	given map[string]tooldef.Definition // what the device said when it registered
}

// tell is called once, before define.
func (h *host) tell(given map[string]tooldef.Definition) {
	h.told, h.about, h.given = true, describe(h.node), given
}

// define says of a device's tool what the device said when it registered, and where it said nothing what is known of a tool of that
// name: behind whose tool it is, since the rest is the device's word.
func (h *host) define(tool, name string) definition {
	d, ok := h.given[tool]
	if !ok {
		d, ok = tooldef.Known(tool, h.node.GetInfo())
	}
	switch {
	case !ok:
		d = tooldef.Definition{InputSchema: []byte(`{"type":"object"}`), Description: "Runs the tool " + quoted(tool) + " of " + h.about + "."}
	case d.Description == "":
		d.Description = "The tool " + quoted(tool) + " of " + h.about + "."
	default:
		d.Description = "On " + h.about + ": " + d.Description
	}
	d.Description += binding(h.node, tool, name)
	return definition{members: d.AppendMembers(nil), readOnly: d.ReadOnly()}
}

// binding says what a name stands for.
func binding(n *nodev1.Node, tool, name string) string {
	if name == tool {
		return " The name " + name + " always means this device, also while it is away."
	}
	return " The name always means this tool of node " + quoted(n.GetInfo().GetNodeId()) + "."
}

// describe says which device it is, in words of its own choosing, shortened to one line.
func describe(n *nodev1.Node) string {
	info := n.GetInfo()
	kind := "the desktop"
	if info.GetNodeType() == nodev1.NodeType_NODE_TYPE_EXTENSION {
		kind = "the browser"
	}
	about := kind + " " + quoted(info.GetNodeName()) + " (node " + quoted(info.GetNodeId())
	if os := strings.TrimSpace(line(info.GetOs() + " " + info.GetOsVersion())); os != "" {
		about += ", " + os
	}
	return about + ")"
}

func quoted(s string) string { return `"` + line(s) + `"` }

// line returns a short text of a device's on one line.
func line(s string) string {
	const most = 80
	if len(s) <= most && printable(s) {
		return s
	}
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp, unicode.Bidi_Control) {
			return ' '
		}
		return r
	}, s)
	if runes := []rune(s); len(runes) > most {
		s = string(runes[:most]) + "…"
	}
	return s
}

// printable reports whether a text is of ASCII letters and signs alone, as most are.
func printable(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}
