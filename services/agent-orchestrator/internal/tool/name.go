package tool

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"strings"
	"unicode/utf8"
)

const (
	// maxModelName is the longest name of a function that model endpoints take.
	maxModelName = 64
	// hashed is how much of a hash a name has, in base32: a hundred bits, so that nobody finds a second name for one.
	hashed = 20
)

// Key names a tool for good: by its layer, its source and what the source calls it, and by nothing else. No choice of names
// by one source makes the key of another's tool, and a tool keeps its key whatever else comes and goes.
//
// It is <layer>__<server>__<tool>, <layer>__<tool> where there is no server, and of built-in tools the name alone. A part
// that models do not take as it is, or in which the underscores could be read in two ways, is told by a hash:
// <layer>_<hash>__<what can be read of it>. Built-in tools have no two underscores in a row in their names.
func Key(s Spec) string {
	switch s.Layer {
	case Builtin:
		return s.Name
	case Connector:
		return qualified("node", s.own())
	}
	if s.Server == "" {
		return qualified(string(s.Layer), s.own())
	}
	return qualified(string(s.Layer), s.Server, s.own())
}

// ModelName is what a model is told that a tool is called: [a-zA-Z0-9_-]{1,64}. It is the tool's key but for a node's tool,
// which keeps its own name where models take that and it is of the form of no key. As with keys, no source can have
// another's name.
func ModelName(s Spec) string {
	if s.Layer == Connector && valid(s.Name) && !strings.Contains(s.Name, "__") {
		return s.Name
	}
	return Key(s)
}

// OfService reports whether a name has the form of a key of a provider's or server's tool: nobody else has such a name.
func OfService(name string) bool {
	layer, _, ok := strings.Cut(name, "_")
	return ok && strings.Contains(name, "__") && (Layer(layer) == OAuth || Layer(layer) == MCP)
}

// MayBeOf reports whether a key may be that of a tool of an MCP server; of one that is told by a hash it may be any server's.
func MayBeOf(key, server string) bool {
	rest, plain := strings.CutPrefix(key, string(MCP)+"__")
	return !plain || strings.HasPrefix(rest, server+"__")
}

// PromptKey names a prompt of an MCP server for good, as [Key] does tools. It is the key of no tool.
func PromptKey(server, name string) string { return qualified(promptLayer, server, name) }

const promptLayer = "prompt"

// OfPrompt reports whether a key is that of a prompt.
func OfPrompt(key string) bool {
	layer, _, ok := strings.Cut(key, "_")
	return ok && layer == promptLayer
}

// MayBePromptOf is [MayBeOf] for prompts.
func MayBePromptOf(key, server string) bool {
	rest, plain := strings.CutPrefix(key, promptLayer+"__")
	return OfPrompt(key) && (!plain || strings.HasPrefix(rest, server+"__"))
}

// PastName is what a model is told that a tool was called of which nothing but its name is known any more.
func PastName(name string) string {
	if valid(name) {
		return name
	}
	return qualified("past", name)
}

// Find returns the tool that a name means: its key, else its name where just one has it. It returns nil where there is none.
func Find(tools []Tool, name string) Tool {
	var found Tool
	for _, t := range tools {
		switch s := t.Spec(); {
		case Key(s) == name:
			return t
		case s.Name != name:
		case found != nil:
			return nil
		default:
			found = t
		}
	}
	return found
}

// qualified joins parts to a name that no other parts make.
func qualified(layer string, parts ...string) string {
	plain := layer
	for _, p := range parts {
		if !valid(p) || strings.Contains(p, "__") || p[0] == '_' || p[len(p)-1] == '_' {
			return digested(layer, parts)
		}
		plain += "__" + p
	}
	if len(plain) > maxModelName {
		return digested(layer, parts)
	}
	return plain
}

// digested has one underscore after the layer, where a plain name has two.
func digested(layer string, parts []string) string {
	h := sha256.New()
	for _, p := range parts {
		// The length first: no two lists of parts make the same bytes.
		h.Write(binary.AppendUvarint(nil, uint64(len(p))))
		h.Write([]byte(p))
	}
	sum := strings.ToLower(base32.StdEncoding.EncodeToString(h.Sum(nil)))[:hashed]
	name := layer + "_" + sum + "__" + legible(strings.Join(parts, "_"))
	return name[:min(len(name), maxModelName)]
}

// legible is what can stand in a name of a text.
func legible(text string) string {
	return strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf && plain(byte(r)) {
			return r
		}
		return '_'
	}, text)
}

func valid(name string) bool {
	if name == "" || len(name) > maxModelName {
		return false
	}
	for i := range len(name) {
		if !plain(name[i]) {
			return false
		}
	}
	return true
}

func plain(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}
