package chat

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Safe makes the text of somebody else harmless for a terminal: every character that is not a visible letter, sign or space
// is shown as its number, those that change the direction of writing included.
func Safe(text string) string {
	if !strings.ContainsFunc(text, harmful) {
		return text
	}
	var b strings.Builder
	for i, r := range text {
		switch {
		case !harmful(r):
			b.WriteRune(r)
		case r == '\r' && strings.HasPrefix(text[i+1:], "\n"): // an end of line, as some write it
		case r < 0x100 && r != unicode.ReplacementChar:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

func harmful(r rune) bool {
	const joiner = '\u200d' // between the parts of an emoji
	return r != '\n' && r != '\t' && r != joiner && (!unicode.IsGraphic(r) || r == '\u2028' || r == '\u2029')
}

// safeLine is Safe for what must stay on one line.
func safeLine(text string) string {
	return strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(Safe(text))
}

// shorten cuts a text after max bytes, between two letters, and says how much is missing.
func shorten(text string, max int) string {
	if len(text) <= max {
		return text
	}
	cut := max
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return fmt.Sprintf("%s… (%d bytes more)", text[:cut], len(text)-cut)
}

// compact is JSON on one line.
func compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}

// indented is JSON for people.
func indented(raw json.RawMessage, prefix string) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, prefix, "  ") != nil {
		return string(raw)
	}
	return b.String()
}
