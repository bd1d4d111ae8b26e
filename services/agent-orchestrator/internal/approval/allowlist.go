package approval

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"

	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

// Entry is what stands for a tool on an allow-list: where it comes from, and as it is. A node's tool is known by its place;
// under the zero Place its entry has no Source, and is nobody's.
func Entry(spec tool.Spec, at tool.Place) store.AllowedTool {
	e := store.AllowedTool{Layer: string(spec.Layer), Tool: cmp.Or(spec.OwnName, spec.Name)}
	switch spec.Layer {
	case tool.Connector:
		e.Source, e.Fingerprint = at.Node, device(at)
	case tool.MCP:
		e.Source, e.Fingerprint = spec.Server, spec.Fingerprint
	case tool.OAuth:
		e.Source = spec.Provider
	case tool.Builtin:
	}
	return e
}

// device is the fingerprint of the tools of a node: nodes tell nothing of their tools but names, so it is that of the device,
// whichever connection it has.
func device(at tool.Place) string {
	sum := sha256.Sum256([]byte(at.Device()))
	return hex.EncodeToString(sum[:])
}

// Names are entries by name alone.
func Names(names ...string) []store.AllowedTool {
	list := make([]store.AllowedTool, len(names))
	for i, name := range names {
		list[i].Tool = name
	}
	return list
}

// listed decides by the allow-list.
func (p Policy) listed(spec tool.Spec, at tool.Place) Decision {
	if spec.Layer == tool.MCP && spec.ReadOnly {
		return Decision{Verdict: Run, Reason: "you trust its server, which says that it only reads"}
	}
	this := Entry(spec, at)
	ask := Decision{Verdict: Ask, Reason: "it is not on your allow-list"}
	for _, e := range p.Allowed {
		switch {
		case e.Layer == "" && e.Tool == this.Tool && own(spec):
			return Decision{Verdict: Run, Reason: "it is on your allow-list"}
		case e.Layer != this.Layer || e.Source != this.Source || e.Tool != this.Tool || away(this):
		case e.Fingerprint == "" && this.Fingerprint != "":
			ask = Decision{Verdict: Run, Reason: "it is on your allow-list", Pin: true}
		case e.Fingerprint == this.Fingerprint:
			return Decision{Verdict: Run, Reason: "it is on your allow-list"}
		default:
			ask.Reason = "it has changed since you allowed it"
		}
	}
	return ask
}

// own reports whether a name alone says enough: the tool is ours, or by our table one that only reads, whoever has it. What
// an MCP server calls its tools is its own affair.
func own(s tool.Spec) bool {
	return s.Layer == tool.Builtin || s.Layer == tool.OAuth || s.Layer == tool.Connector && s.ReadOnly
}

// away reports whether an entry is that of a node's tool before anybody knows the node.
func away(e store.AllowedTool) bool { return e.Layer == string(tool.Connector) && e.Source == "" }
