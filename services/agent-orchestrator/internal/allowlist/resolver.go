package allowlist

import (
	"context"
	"slices"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/process/options"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

// Resolver makes entries of names. It is safe for concurrent use.
type Resolver struct {
	// static after construction
	nodes   Nodes
	servers tool.Source
}

// Options are where a Resolver looks tools up. All of it is required.
type Options struct {
	// Nodes are the users' nodes.
	Nodes Nodes
	// Servers lists the tools of the MCP servers that users have saved.
	Servers tool.Source
}

// New checks the options and returns a Resolver.
func New(o Options) (*Resolver, error) {
	if err := options.Require("allowlist", map[string]bool{"Nodes": o.Nodes == nil, "Servers": o.Servers == nil}); err != nil {
		return nil, err
	}
	return &Resolver{nodes: o.Nodes, servers: o.Servers}, nil
}

// Resolve returns the allow-list that a user wants instead of the one that is kept: with the tools of these names, and these
// entries. Where a name has an entry among wanted, it stands for those alone. The error is that of the nodes' look-up; then
// nothing is known of what a new name stands for.
func (r *Resolver) Resolve(
	ctx context.Context, user ids.UserID, kept []store.AllowedTool, names []string, wanted []store.AllowedTool,
) ([]store.AllowedTool, error) {
	look := &looking{r: r, user: user}
	var out []store.AllowedTool
	for _, e := range wanted {
		if e.Fingerprint == "" {
			offered, err := look.at(ctx, e.Layer)
			if err != nil {
				return nil, err
			}
			e.Fingerprint = fingerprintOf(e, offered, kept)
		}
		out = append(out, e)
	}
	for _, name := range names {
		bare := store.AllowedTool{Tool: name}
		listed := slices.Contains(kept, bare)
		before := standing(kept, name)
		isNew := !listed && len(before) == 0
		if listed || isNew {
			out = append(out, bare)
		}
		switch {
		case len(standing(wanted, name)) > 0:
		case !isNew:
			out = append(out, before...)
		case !Ours(name):
			found, err := look.meant(ctx, name)
			if err != nil {
				return nil, err
			}
			out = append(out, found...)
		}
	}
	return out, nil
}

// fingerprintOf is that of a tool as it is, else as it was when it was allowed before; "" where neither is known.
func fingerprintOf(e store.AllowedTool, lists ...[]store.AllowedTool) string {
	for _, list := range lists {
		for _, o := range list {
			if o.Layer == e.Layer && o.Source == e.Source && o.Tool == e.Tool {
				return o.Fingerprint
			}
		}
	}
	return ""
}

// NamesOf are the names of a list's tools, sorted.
func NamesOf(list []store.AllowedTool) []string {
	names := make([]string, len(list))
	for i, e := range list {
		names[i] = e.Tool
		if e.Layer != "" && slices.Contains(list, store.AllowedTool{Tool: qualified(e)}) {
			names[i] = qualified(e)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// standing are the entries of a list for which a name stands.
func standing(list []store.AllowedTool, name string) (out []store.AllowedTool) {
	for _, e := range list {
		if e.Layer != "" && (e.Tool == name || qualified(e) == name) {
			out = append(out, e)
		}
	}
	return out
}

// qualified is the name under which a server's tool is offered where others have its own.
func qualified(e store.AllowedTool) string {
	if e.Layer != string(tool.MCP) {
		return e.Tool
	}
	return e.Source + "__" + e.Tool
}
