package agent

import (
	"crypto/rand"
	"encoding/hex"
	"strings"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

// named returns prefix and n random bytes in hex.
func named(prefix string, n int) string {
	var b [16]byte
	_, _ = rand.Read(b[:n]) // never fails since Go 1.24
	return prefix + hex.EncodeToString(b[:n])
}

// newSession returns session_{hex12} (docs/protocols/zeus-agents.md#invoke).
func newSession() ids.SessionID { return ids.SessionID(named("session_", 6)) }

func newRunID() string       { return named("run_", 12) }
func newMessageID() string   { return named("msg_", 12) }
func newInterruptID() string { return named("int_", 12) }
func newCallID() string      { return named("call_", 12) }

// firstWords returns the beginning of a text on one line: at most limit bytes, cut between words where it can be.
func firstWords(text string, limit int) string {
	if len(text) > 8*limit { // no more is needed, and a text may be long
		text = text[:8*limit]
	}
	line := strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " ")
	if len(line) <= limit {
		return line
	}
	cut := cutText(line, limit-len("…"))
	if space := strings.LastIndexByte(cut, ' '); space > 0 {
		cut = cut[:space]
	}
	return cut + "…"
}

// cutText returns at most limit bytes of text, never half a character.
func cutText(text string, limit int) string { return tool.Cut(text, limit) }
