package tool

import (
	"cmp"
	"fmt"
	"slices"
)

// Unique returns the tools under names that are unique, and says what had to be left out.
//
// Names are given away in this order: built-in tools, those of nodes, those of OAuth providers, then those of MCP servers as
// long as just one of these has the name. So built-in tools and those of nodes keep exactly their names, and a node's tool
// that is called like a built-in one is left out. MCP tools whose names collide, with each other or with those above, are
// offered as <server>__<name>, all of them; what collides even so is left out but for the first. The order of the tools
// makes no difference but for that.
func Unique(tools []Tool) (out []Tool, problems []string) {
	taken := map[string]bool{}
	claim := func(t Tool, name string) {
		if taken[name] {
			problems = append(problems, fmt.Sprintf("The %s tool %q is left out: another tool has its name", t.Spec().Layer, name))
			return
		}
		taken[name] = true
		if name != t.Spec().Name {
			t = renamed{t, name}
		}
		out = append(out, t)
	}
	tools = slices.Clone(tools)
	slices.SortStableFunc(tools, func(a, b Tool) int { return cmp.Compare(rank(a.Spec()), rank(b.Spec())) })
	sharing := map[string]int{}
	for _, t := range tools {
		if s := t.Spec(); s.Server != "" {
			sharing[s.Name]++
		}
	}
	var qualified []Tool
	for _, t := range tools { // the plain names first, so that no qualified one takes them
		if s := t.Spec(); s.Server == "" || sharing[s.Name] == 1 && !taken[s.Name] {
			claim(t, s.Name)
		} else {
			qualified = append(qualified, t)
		}
	}
	for _, t := range qualified {
		claim(t, t.Spec().Server+"__"+t.Spec().Name)
	}
	return out, problems
}

func rank(s Spec) int {
	switch {
	case s.Server != "":
		return 3
	case s.Layer == Builtin:
		return 0
	case s.Layer == Connector:
		return 1
	}
	return 2
}

// renamed is an MCP server's tool under its qualified name. Such tools run on no node, so that it hides no [Placed].
type renamed struct {
	Tool
	name string
}

func (r renamed) Spec() Spec {
	s := r.Tool.Spec()
	s.Name, s.OwnName = r.name, s.Name
	return s
}
