package testkit

import (
	"crypto/rand"
	"strings"
	"testing"
)

const maxPrefixName = 40 // bytes of a test's name that a prefix keeps

// Prefix returns a name that no other test, binary or run uses, to keep tests on a shared server apart: the test's name
// and a random part, of bytes that need no escaping anywhere ([A-Za-z0-9_-]).
func Prefix(t testing.TB) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-':
			return r
		default:
			return '_'
		}
	}, t.Name())
	return name[:min(len(name), maxPrefixName)] + "-" + rand.Text()[:10]
}
