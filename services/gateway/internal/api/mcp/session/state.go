package session

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/security/seal"
)

// StateLife is how long the person has to answer.
const StateLife = 10 * time.Minute

// State is the `requestState` of a call that was ended with a question.
type State struct {
	// Tool and Digest are those of the call, which has to be made again as it was.
	Tool   string `json:"t"`
	Digest []byte `json:"d"`
	// Key is that of the question.
	Key string `json:"k"`
	// Note is the asker's own.
	Note string `json:"n,omitempty"`
	// Said are the answers to the call's earlier questions, by their keys.
	Said    map[string]json.RawMessage `json:"s,omitempty"`
	Expires int64                      `json:"e"` // unix seconds
}

// Digest is that of a call's arguments, as they are written.
func Digest(arguments []byte) []byte {
	sum := sha256.Sum256(arguments)
	return sum[:]
}

// SealState returns a state as clients carry it.
func (s Sealer) SealState(user ids.UserID, st State) (string, error) {
	st.Expires = time.Now().Add(StateLife).Unix()
	plain, err := json.Marshal(st)
	if err != nil {
		return "", err
	}
	sealed, err := s.Box.Seal(seal.MCPState, user, plain)
	return base64.RawURLEncoding.EncodeToString(sealed), err
}

// OpenState returns the state of a call of that tool with those arguments, or [ErrUnknown].
func (s Sealer) OpenState(user ids.UserID, text, tool string, arguments []byte) (State, error) {
	plain, err := s.open(seal.MCPState, user, text)
	var st State
	if err != nil || json.Unmarshal(plain, &st) != nil || st.Tool != tool || string(st.Digest) != string(Digest(arguments)) ||
		time.Now().Unix() > st.Expires {
		return State{}, ErrUnknown
	}
	return st, nil
}
