package tool

import "strings"

// CleanText returns text as every part behind a tool can take it: valid UTF-8 without NUL, which PostgreSQL stores in no
// text.
func CleanText(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}
