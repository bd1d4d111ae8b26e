package jsonrpc

import (
	"bytes"
	"errors"
	"slices"
)

// ErrNotObject is returned for JSON that is not an object: no dialect of nodes has such frames, batches included.
var ErrNotObject = errors.New("a frame must be a JSON object, batches are not supported")

// Frame is a validated JSON object with its well-known members located, not decoded. Each is a slice of the bytes that
// were skimmed, nil where the member is missing.
type Frame struct {
	// Raw is the whole frame.
	Raw []byte
	// Type names a message that is not JSON-RPC (docs/protocols/zeus-nodes.md); JSONRPC and the members after it are those
	// of JSON-RPC.
	Type, JSONRPC, ID, Method, Params, Result, Error []byte
	// RequestID belongs to the legacy mcp_response (docs/protocols/zeus-nodes.md#legacy-answers).
	RequestID []byte
}

// Skim validates a frame and locates its members. The error is [ErrNotObject] or a *[SyntaxError]. Where a member stands
// twice the last one counts, as in JavaScript, Python and Go.
func Skim(b []byte) (Frame, error) {
	f := Frame{Raw: b}
	return f, members(b, f.keep)
}

// members validates an object and yields its members, each name without its quotes and escapes.
func members(b []byte, yield func(name, value []byte)) error {
	i := space(b, 0)
	if i == len(b) || b[i] != '{' {
		if err := Valid(b); err != nil {
			return err
		}
		return ErrNotObject
	}
	i = space(b, i+1)
	if i < len(b) && b[i] == '}' {
		return ends(b, i+1)
	}
	for {
		start := i
		colon, err := key(b, i)
		if err != nil {
			return err
		}
		name := Text(bytes.TrimRight(b[start:colon-1], " \t\r\n"))
		if start = space(b, colon); start == len(b) {
			_, err = bad(start, "unexpected end")
			return err
		}
		stop, err := value(b, start, MaxDepth)
		if err != nil {
			return err
		}
		yield(name, b[start:stop:stop])
		i = space(b, stop)
		switch {
		case i == len(b):
			_, err = bad(i, "unexpected end")
			return err
		case b[i] == '}':
			return ends(b, i+1)
		case b[i] != ',':
			_, err = bad(i, "expected a comma or a closing bracket")
			return err
		}
		i = space(b, i+1)
	}
}

func ends(b []byte, i int) error {
	if i = space(b, i); i != len(b) {
		_, err := bad(i, "text after the frame")
		return err
	}
	return nil
}

// keep remembers a member if it is one of the well-known.
func (f *Frame) keep(name, value []byte) {
	switch string(name) {
	case "type":
		f.Type = value
	case "jsonrpc":
		f.JSONRPC = value
	case "id":
		f.ID = value
	case "method":
		f.Method = value
	case "params":
		f.Params = value
	case "result":
		f.Result = value
	case "error":
		f.Error = value
	case "request_id":
		f.RequestID = value
	}
}

// IsNull reports whether a member is missing or null.
func IsNull(raw []byte) bool { return raw == nil || string(raw) == "null" }

// IsObject reports whether a validated value is an object.
func IsObject(raw []byte) bool { return len(raw) > 0 && raw[0] == '{' }

// StringMember returns the text of a string member of a validated object, for the rare readers that need one member
// beyond those of a [Frame]; "" where it is missing or no string.
func StringMember(object []byte, name string) string {
	var text string
	Members(object, func(key, value []byte) {
		if string(key) == name {
			text = string(Text(value))
		}
	})
	return text
}

// RawMembers returns the named members of a validated object as they stand; those that are missing are not in the map.
func RawMembers(object []byte, names ...string) map[string][]byte {
	found := make(map[string][]byte, len(names))
	Members(object, func(name, value []byte) {
		if slices.Contains(names, string(name)) {
			found[string(name)] = value
		}
	})
	return found
}
