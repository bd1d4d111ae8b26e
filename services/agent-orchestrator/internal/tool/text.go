package tool

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// CleanText returns text as every part behind a tool can take it: valid UTF-8 without NUL, which PostgreSQL stores in no
// text.
func CleanText(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}

// Quote returns at most limit bytes of a text in quotation marks that nothing in it closes, on one line.
func Quote(text string, limit int) string {
	text = CleanText(text)
	if len(text) <= limit {
		return strconv.Quote(text)
	}
	return strconv.Quote(Cut(text, limit)) + " [cut]"
}

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
