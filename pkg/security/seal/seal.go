package seal

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/process/config"
)

// Why a value does not open, as targets of [errors.Is].
var (
	// ErrUnknownKey says that the value was sealed with a key that is not configured.
	ErrUnknownKey = errors.New("seal: sealed with a key that is not configured")
	// ErrTampered says that the value was changed, cut off, or belongs to another user or purpose.
	ErrTampered = errors.New("seal: the value was changed, or belongs to another user or purpose")
	// ErrNoKey says that a Box has no key: nothing is stored in plain text instead.
	ErrNoKey = errors.New("seal: no key is configured")
)

const (
	version   = 1
	keyBytes  = 32
	idBytes   = 8
	headBytes = 1 + idBytes
)

// Purpose says what a sealed value is. What is sealed for one does not open for another.
type Purpose string

// The purposes.
const (
	RunSettings  Purpose = "run settings"
	ToolSecrets  Purpose = "tool secrets"
	OAuthState   Purpose = "oauth state"
	MCPSession   Purpose = "mcp session"
	MCPState     Purpose = "mcp request state"
	ScheduledRun Purpose = "scheduled run"
)

type key struct {
	id   [idBytes]byte
	aead cipher.AEAD // with a random nonce in front of its text
}

// Box seals and opens. It is safe for concurrent use; the zero Box answers [ErrNoKey].
type Box struct {
	// static after construction
	keys []key // the first seals
}

// New returns a Box with these keys, each base64 of 32 bytes. The first seals, all open.
func New(keys ...config.Secret) (*Box, error) {
	if len(keys) == 0 {
		return nil, ErrNoKey
	}
	b := &Box{}
	for i, text := range keys {
		k, err := parse(text.Reveal())
		if err != nil {
			return nil, fmt.Errorf("seal: key %d: %w", i+1, err)
		}
		for _, other := range b.keys {
			if other.id == k.id {
				return nil, fmt.Errorf("seal: key %d is given twice", i+1)
			}
		}
		b.keys = append(b.keys, k)
	}
	return b, nil
}

// NewKey returns a fresh random key as New takes it.
func NewKey() config.Secret {
	var raw [keyBytes]byte
	_, _ = rand.Read(raw[:]) // never fails since Go 1.24
	return config.Secret(base64.StdEncoding.EncodeToString(raw[:]))
}

// parse reads a key. The error says what is wrong with it, but never repeats it.
func parse(text string) (key, error) {
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return key{}, errors.New("not base64; `openssl rand -base64 32` makes a key")
	}
	if len(raw) != keyBytes {
		return key{}, fmt.Errorf("%d bytes, want %d; `openssl rand -base64 32` makes a key", len(raw), keyBytes)
	}
	block, err := aes.NewCipher(raw)
	if err != nil {
		return key{}, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return key{}, err
	}
	k := key{aead: aead}
	sum := sha256.Sum256(append([]byte("hecaton seal key id\x00"), raw...))
	copy(k.id[:], sum[:])
	return k, nil
}

// Seal returns plain sealed for a user and purpose.
func (b *Box) Seal(purpose Purpose, user ids.UserID, plain []byte) ([]byte, error) {
	if len(b.keys) == 0 {
		return nil, ErrNoKey
	}
	k := b.keys[0]
	out := make([]byte, 0, headBytes+len(plain)+k.aead.Overhead())
	out = append(append(out, version), k.id[:]...)
	return k.aead.Seal(out, nil, plain, bind(out, purpose, user)), nil
}

// Open returns what was sealed for the same user and purpose, or [ErrUnknownKey] or [ErrTampered].
func (b *Box) Open(purpose Purpose, user ids.UserID, sealed []byte) ([]byte, error) {
	if len(b.keys) == 0 {
		return nil, ErrNoKey
	}
	if len(sealed) < headBytes || sealed[0] != version {
		return nil, ErrTampered
	}
	head, text := sealed[:headBytes], sealed[headBytes:]
	for _, k := range b.keys {
		if !bytes.Equal(head[1:], k.id[:]) {
			continue
		}
		plain, err := k.aead.Open(nil, nil, text, bind(head, purpose, user))
		if err != nil {
			return nil, ErrTampered
		}
		return plain, nil
	}
	return nil, ErrUnknownKey
}

// bind is the additional data: the head, and purpose and user, each with its length, so that no two pairs read the same.
func bind(head []byte, purpose Purpose, user ids.UserID) []byte {
	out := bytes.Clone(head)
	for _, part := range []string{string(purpose), string(user)} {
		out = binary.BigEndian.AppendUint32(out, uint32(len(part)))
		out = append(out, part...)
	}
	return out
}
