package tool

import (
	"cmp"
	"fmt"
	"slices"
)

// Label returns the tools under the names that people and settings call them by, and says what had to be left out.
//
// Built-in tools and those of nodes have exactly their own names; a node's tool that is called like a built-in one is left
// out. A tool of an OAuth provider or an MCP server has its own name as long as no other tool has it, else <server>__<name>,
// else its [Key]. Of two tools with one key the first is taken. The order of the tools makes no difference but for that.
//
// A label is for reading. What a tool is, is its key: a node can give a tool any label, and gets no other tool's calls by it.
func Label(tools []Tool) (out []Tool, problems []string) {
	tools = slices.Clone(tools)
	slices.SortStableFunc(tools, func(a, b Tool) int { return cmp.Compare(rank(a.Spec()), rank(b.Spec())) })
	sharing := map[string]int{}
	for _, t := range tools {
		sharing[t.Spec().Name]++
	}
	keys, labels := map[string]bool{}, map[string]bool{}
	for _, t := range tools {
		s := t.Spec()
		key := Key(s)
		if keys[key] || s.Layer == Connector && keys[s.Name] { // of what came before, only a built-in tool's key is a name
			problems = append(problems, fmt.Sprintf("The %s tool %q is left out: another tool has its name", s.Layer, s.Name))
			sharing[s.Name]--
			continue
		}
		keys[key] = true
		for _, label := range candidates(s, key, sharing[s.Name] > 1) {
			if !labels[label] || label == key {
				out = append(out, labelled(t, label))
				labels[label] = true
				break
			}
		}
	}
	return out, problems
}

// candidates are the labels that a tool may have, the best first.
func candidates(s Spec, key string, shared bool) []string {
	switch {
	case s.Layer == Builtin, s.Layer == Connector:
		return []string{s.Name, key}
	case !shared:
		return []string{s.Name, key}
	case s.Server == "":
		return []string{s.Name, key}
	}
	return []string{s.Server + "__" + s.Name, key}
}

func rank(s Spec) int {
	switch s.Layer {
	case Builtin:
		return 0
	case Connector:
		return 1
	case OAuth:
		return 2
	}
	return 3
}

func labelled(t Tool, label string) Tool {
	if label == t.Spec().Name {
		return t
	}
	return renamed{t, label}
}

// renamed is a tool of a provider or server under another label. Such tools run on no node, so that it hides no [Placed].
type renamed struct {
	Tool
	name string
}

func (r renamed) Spec() Spec {
	s := r.Tool.Spec()
	s.Name, s.OwnName = r.name, s.own()
	return s
}
