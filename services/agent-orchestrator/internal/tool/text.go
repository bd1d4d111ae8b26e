package tool

import (
	"strings"

	"github.com/hecaton-dev/hecaton/pkg/tool/tooldef"
)

// CleanText is [tooldef.Clean].
func CleanText(text string) string { return tooldef.Clean(text) }

// Quote is [tooldef.Quote].
func Quote(text string, limit int) string { return tooldef.Quote(text, limit) }

// Cut is [tooldef.Cut].
func Cut(text string, limit int) string { return tooldef.Cut(text, limit) }

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
