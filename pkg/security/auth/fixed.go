package auth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"strings"
)

// FixedPrefix begins every token that a user has made, and no JWT.
const FixedPrefix = "hct_"

// Sizes of the two parts of such a token, in random bytes: its id, which is no secret, and its secret.
const (
	fixedID     = 12
	fixedSecret = 32
)

// Book knows the tokens that are no JWT: those that users make for their programs.
type Book interface {
	// LookUp returns who a token speaks for, and for how long. An error is an *[Error] of kind [Unauthenticated] where the token
	// is known to be none.
	LookUp(ctx context.Context, token string) (Identity, error)
}

// UseBook makes the tokens of a book valid. Call it before the first request.
func (a *Authenticator) UseBook(b Book) { a.book = b }

// NewFixed returns a random token and its id.
func NewFixed() (id, token string) {
	var random [fixedID + fixedSecret]byte
	_, _ = rand.Read(random[:]) // never fails
	id = hex.EncodeToString(random[:fixedID])
	return id, FixedPrefix + id + "_" + hex.EncodeToString(random[fixedID:])
}

// FixedID returns the id of a token of [NewFixed], "" where it cannot be one.
func FixedID(token string) string {
	id, secret, _ := strings.Cut(strings.TrimPrefix(token, FixedPrefix), "_")
	if !strings.HasPrefix(token, FixedPrefix) || !isHex(id, fixedID) || !isHex(secret, fixedSecret) {
		return ""
	}
	return id
}

func isHex(text string, size int) bool {
	return len(text) == hex.EncodedLen(size) && strings.Trim(text, "0123456789abcdef") == ""
}

// HashFixed is what is kept of a token. The secret is random and long, so that a plain hash is enough.
func HashFixed(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

// SameFixed reports whether a token is the one of a hash, in a time that tells nothing of it.
func SameFixed(token string, hash []byte) bool {
	return subtle.ConstantTimeCompare(HashFixed(token), hash) == 1
}

// NoToken is the refusal of a token that nobody has made, or that was revoked or has expired: which of these is not told.
func NoToken() error {
	return refuse(Unauthenticated, nil, "there is no such token: it was revoked, has expired, or never was")
}
