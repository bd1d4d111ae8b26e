package tool

import (
	"strings"
	"unicode/utf8"

	"github.com/hecaton-dev/hecaton/pkg/tool/tooldef"
)

// CleanText returns text as every part behind a tool can take it: valid UTF-8 without NUL, which PostgreSQL stores in no
// text.
func CleanText(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}

// Quote is [tooldef.Quote].
func Quote(text string, limit int) string { return tooldef.Quote(text, limit) }

// Cut returns at most limit bytes of text, never half a character.
func Cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}

// FirstWords returns the beginning of a text on one line: at most limit bytes, cut between words where it can be.
func FirstWords(text string, limit int) string {
	if len(text) > 8*limit { // no more is needed, and a text may be long
		text = text[:8*limit]
	}
	line := strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " ")
	if len(line) <= limit {
		return line
	}
	cut := Cut(line, limit-len("…"))
	if space := strings.LastIndexByte(cut, ' '); space > 0 {
		cut = cut[:space]
	}
	return cut + "…"
}
