package tooldef

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"unique"

	"github.com/klauspost/compress/s2"

	"github.com/hecaton-dev/hecaton/pkg/tool/toolname"
	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
)

// MaxSetBytes bounds the definitions of one node together, in compact JSON.
const MaxSetBytes = 256 << 10

// Set is the definitions of one node, packed. Equal ones share their memory: a pod that holds ten thousand browsers with the same
// extension has them once. The zero Set has none.
type Set struct{ packed unique.Handle[string] }

// IsZero reports whether the set has no definitions.
func (s Set) IsZero() bool { return s == Set{} }

// Packed returns the set as [Unpack] reads it; nil for the zero Set.
func (s Set) Packed() []byte {
	if s.IsZero() {
		return nil
	}
	return []byte(s.packed.Value())
}

// Pack returns the set of definitions, and the digest that names it; the zero Set and "" for none.
func Pack(defs []Definition) (Set, string) {
	if len(defs) == 0 {
		return Set{}, ""
	}
	var text []byte
	for _, d := range defs {
		text = d.Append(append(text, ','))
	}
	return pack(text)
}

// pack packs definitions, each of which has a comma before it.
func pack(text []byte) (Set, string) {
	text[0] = '['
	text = append(text, ']')
	return Set{unique.Make(string(s2.Encode(nil, text)))}, digest(text)
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// CheckDigest refuses what names no set.
func CheckDigest(digest string) error {
	if raw, err := base64.RawURLEncoding.Strict().DecodeString(digest); err != nil || len(raw) != sha256.Size {
		return fmt.Errorf("the digest of tools %.64q is not %d bytes in base64url", digest, sha256.Size)
	}
	return nil
}

// Unpack returns the definitions of a packed set. Its digest must be the one given.
func Unpack(packed []byte, want string) ([]Definition, error) {
	size, err := s2.DecodedLen(packed)
	if err != nil || size > MaxSetBytes+1 {
		return nil, errors.New("packed definitions are damaged or too large")
	}
	text, err := s2.Decode(nil, packed)
	if err != nil {
		return nil, fmt.Errorf("packed definitions: %w", err)
	}
	if digest(text) != want {
		return nil, errors.New("packed definitions do not have the digest that names them")
	}
	var defs []Definition
	jsonrpc.Elements(text, func(element []byte) {
		if d, err := read(element); err == nil {
			defs = append(defs, d)
		}
	})
	return defs, nil
}

// Reading is what a node says of its tools.
type Reading struct {
	// Names are those of all tools that have one, in order, also where the rest of the definition was refused.
	Names []string
	// Set has the definitions that were kept, and Digest names it; "" where there are none.
	Set    Set
	Digest string
	// Kept is how many definitions the set has.
	Kept int
	// Problems say which definitions were refused, and why.
	Problems []error
}

// Read reads the `tools` of a register message: a list of tool objects of valid JSON. The error says that it is none, or is too
// long.
func Read(raw []byte) (Reading, error) {
	if raw[0] != '[' {
		return Reading{}, errors.New("tools must be a list of tool objects")
	}
	count := 0
	jsonrpc.Elements(raw, func([]byte) { count++ })
	if count > toolname.MaxTools {
		return Reading{}, fmt.Errorf("tools has %d definitions, at most %d are allowed", count, toolname.MaxTools)
	}
	var r Reading
	text := make([]byte, 0, min(len(raw)+2, MaxSetBytes+MaxBytes))
	at := 0
	jsonrpc.Elements(raw, func(element []byte) {
		name, d, err := readOne(element)
		switch {
		case name != "" && slices.Contains(r.Names, name):
			err = errors.New("is defined before")
		case name != "":
			r.Names = append(r.Names, name)
		}
		if err == nil {
			before := len(text)
			if text = d.Append(append(text, ',')); len(text) > MaxSetBytes {
				text = text[:before]
				err = fmt.Errorf("is more than fits into %d bytes", MaxSetBytes)
			}
		}
		if err == nil {
			r.Kept++
		} else {
			r.Problems = append(r.Problems, fmt.Errorf("tools[%d] %s: %w", at, Quote(name, toolname.MaxBytes), err))
		}
		at++
	})
	if r.Kept > 0 {
		r.Set, r.Digest = pack(text)
	}
	return r, nil
}

// readOne returns the name of a tool, if it has a valid one, and its definition.
func readOne(raw []byte) (name string, d Definition, err error) {
	if d, err = Check(raw); err == nil {
		return d.Name, d, nil
	}
	if jsonrpc.IsObject(raw) {
		if said := jsonrpc.StringMember(raw, "name"); toolname.Check(said) == nil {
			name = said
		}
	}
	return name, d, err
}
