package tool

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode/utf8"
)

// maxModelName is the longest name of a function that model endpoints take.
const maxModelName = 64

// ModelName returns what a model calls the tool of this name: the name itself where models take it, [a-zA-Z0-9_-]{1,64},
// else one that is made of it and differs from those of other names. It depends on nothing but the name, so messages of
// the past can be shown to a model when the tool itself has gone.
func ModelName(name string) string {
	if valid(name) {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	mark := "_" + hex.EncodeToString(sum[:4])
	kept := strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf && plain(byte(r)) {
			return r
		}
		return '_'
	}, name)
	return kept[:min(len(kept), maxModelName-len(mark))] + mark
}

// Find returns the tool that a model means by a name: its [ModelName] or, what models that were told of it by the user may
// write, its own. It returns nil where there is none.
func Find(tools []Tool, name string) Tool {
	for _, t := range tools {
		if own := t.Spec().Name; own == name || ModelName(own) == name {
			return t
		}
	}
	return nil
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
