package agent

import (
	"crypto/rand"
	"encoding/hex"

	"github.com/hecaton-dev/hecaton/pkg/ids"
)

// randomID returns prefix and n random bytes in hex.
func randomID(prefix string, n int) string {
	var b [16]byte
	_, _ = rand.Read(b[:n]) // never fails since Go 1.24
	return prefix + hex.EncodeToString(b[:n])
}

// newSession returns session_{hex12} (docs/protocols/zeus-agents.md#invoke).
func newSession() ids.SessionID { return ids.SessionID(randomID("session_", 6)) }

func newRunID() string       { return randomID("run_", 12) }
func newMessageID() string   { return randomID("msg_", 12) }
func newInterruptID() string { return randomID("int_", 12) }
func newCallID() string      { return randomID("call_", 12) }
