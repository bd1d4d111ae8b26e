package tooldef

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// text returns at most limit bytes of a stranger's text, without the characters that hide text or turn it around: control
// characters other than the end of a line and the tab, those that set the direction of writing, and tags.
func text(s string, limit int) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\u2028' || r == '\u2029':
			return '\n'
		case r != '\n' && r != '\t' && hides(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	s = strings.TrimSpace(s)
	if len(s) <= limit {
		return s
	}
	return Cut(s, limit-len("…")) + "…"
}

// line is [text] on one line.
func line(s string, limit int) string {
	return text(strings.Join(strings.Fields(text(s, len(s))), " "), limit)
}

func hides(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp, unicode.Bidi_Control) || r >= 0xE0000 && r <= 0xE0FFF
}

// Cut returns at most limit bytes of a text, never half a character.
func Cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}

// Clean returns a text as every part behind a tool can take it: valid UTF-8 without NUL, which PostgreSQL stores in no text.
func Clean(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// Quote returns at most limit bytes of a text in quotation marks that nothing in it closes, on one line.
func Quote(s string, limit int) string {
	s = Clean(s)
	if len(s) <= limit {
		return strconv.Quote(s)
	}
	return strconv.Quote(Cut(s, limit)) + " [cut]"
}
