package ids

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"
)

// MaxBytes is the length of the longest id that a client may choose.
const MaxBytes = 256

type (
	// UserID names the owner of nodes and sessions.
	UserID string
	// NodeID names one node of a user; two users may use the same one.
	NodeID string
	// SessionID names one agent conversation of a user.
	SessionID string
	// CallID names one call; a UUID that Hecaton chose.
	CallID string
	// GatewayID names one gateway pod for as long as its process lives.
	GatewayID string
	// Epoch orders the connections of one node: the later registration has the greater one.
	Epoch int64
)

// Node names a node across all users.
type Node struct {
	User UserID
	Node NodeID
}

// String is for logs of a developer; it is never parsed.
func (n Node) String() string { return fmt.Sprintf("%q/%q", string(n.User), string(n.Node)) }

// NewCallID returns a random call id.
func NewCallID() CallID { return CallID(uuid.NewString()) }

// NewGatewayID returns an id for this process, after the name of its host or pod.
func NewGatewayID(name string) GatewayID {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails since Go 1.24
	return GatewayID(name + "-" + hex.EncodeToString(b[:]))
}

// InvalidError says why an id was refused.
type InvalidError struct {
	// What the id is for, as the client calls it: "user_id".
	Field string
	// Why it was refused and what would be right.
	Problem string
}

func (e *InvalidError) Error() string { return e.Field + " " + e.Problem }

// Check refuses an id that is empty, longer than [MaxBytes], not UTF-8, or holds a control character. The error is an
// *[InvalidError].
func Check(field, id string) error {
	switch {
	case id == "":
		return &InvalidError{field, "is empty"}
	case len(id) > MaxBytes:
		return &InvalidError{field, fmt.Sprintf("has %d bytes, at most %d are allowed", len(id), MaxBytes)}
	case !utf8.ValidString(id):
		return &InvalidError{field, "is not valid UTF-8"}
	}
	for _, r := range id {
		if unicode.IsControl(r) {
			return &InvalidError{field, fmt.Sprintf("holds the control character %U", r)}
		}
	}
	return nil
}
