package session

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"slices"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/security/seal"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/wire"
)

// ErrUnknown says that something sealed does not open: it was changed, belongs to another user, or is over.
var ErrUnknown = errors.New("unknown or ended")

// Session is what a client of an older revision said in `initialize`.
type Session struct {
	// Name tells the sessions of all users apart. It is random, and known to nobody but the client and the pods.
	Name string
	// Version is the revision that was agreed on.
	Version string
	// Elicits says that the client can ask its person.
	Elicits bool
}

// Sealer seals and opens.
type Sealer struct{ Box *seal.Box }

const (
	nameBytes = 16
	elicits   = 1
)

// Begin returns the id of a new session, visible ASCII.
func (s Sealer) Begin(user ids.UserID, version string, canElicit bool) (string, error) {
	plain := make([]byte, nameBytes, nameBytes+1+len(version))
	_, _ = rand.Read(plain) // never fails
	var flags byte
	if canElicit {
		flags |= elicits
	}
	sealed, err := s.Box.Seal(seal.MCPSession, user, append(append(plain, flags), version...))
	return base64.RawURLEncoding.EncodeToString(sealed), err
}

// Open returns the session of an id, or [ErrUnknown].
func (s Sealer) Open(user ids.UserID, id string) (Session, error) {
	plain, err := s.open(seal.MCPSession, user, id)
	if err != nil || len(plain) <= nameBytes {
		return Session{}, ErrUnknown
	}
	found := Session{
		Name: base64.RawURLEncoding.EncodeToString(plain[:nameBytes]), Version: string(plain[nameBytes+1:]), Elicits: plain[nameBytes]&elicits != 0,
	}
	if !slices.Contains(wire.Older, found.Version) { // a version that is served no more
		return Session{}, ErrUnknown
	}
	return found, nil
}

func (s Sealer) open(purpose seal.Purpose, user ids.UserID, text string) ([]byte, error) {
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return nil, err
	}
	return s.Box.Open(purpose, user, sealed)
}
