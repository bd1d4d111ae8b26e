package approval

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"

	"github.com/hecaton-dev/hecaton/pkg/ids"
)

// Digest names what a person is shown: 64 hex digits, the same for the same call, and another where any part differs.
// How args are written does not matter, as far as [Canonical] can tell; otherwise their text does.
func Digest(session ids.SessionID, callID, tool string, args []byte, node, mark string) string {
	form := "object"
	if canonical, err := Canonical(args); err == nil {
		args = canonical
	} else {
		form = "text"
	}
	h := sha256.New()
	for _, part := range [][]byte{
		[]byte("hecaton call 1"), []byte(session), []byte(callID), []byte(tool), []byte(form), args, []byte(node), []byte(mark),
	} {
		// The length first: no two lists of parts make the same bytes.
		h.Write(binary.AppendUvarint(nil, uint64(len(part))))
		h.Write(part)
	}
	return hex.EncodeToString(h.Sum(nil))
}
