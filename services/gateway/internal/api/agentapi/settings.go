package agentapi

import (
	"io"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
)

// maxAllowed is how many tools an allow-list may have. An entry may take many times its bytes, so that they are counted first.
const maxAllowed = 1000

// withSettings reads approval settings as their clients write them: an entry of allowlist is the name of a tool, or an object
// as in allowed. All else is read as it is.
type withSettings struct{ runtime.Marshaler }

// NewDecoder implements [runtime.Marshaler].
func (m withSettings) NewDecoder(r io.Reader) runtime.Decoder {
	return runtime.DecoderFunc(func(v any) error {
		switch v.(type) {
		case *agentv1.ApprovalSettings, **agentv1.ApprovalSettings:
		default:
			return m.Marshaler.NewDecoder(r).Decode(v)
		}
		raw, err := io.ReadAll(r) // of a body that was read before
		if err != nil {
			return err
		}
		if raw, err = sorted(raw); err != nil {
			return err
		}
		return m.Unmarshal(raw, v)
	})
}

// sorted moves the objects of allowlist to allowed, in the settings of a body that was checked. What is wrong stays, so that the
// decoder reports it.
func sorted(body []byte) ([]byte, error) {
	var allowlist, allowed []byte
	entries, objects, doubled := 0, 0, false
	jsonrpc.Members(body, func(name, value []byte) {
		var to *[]byte
		switch string(name) {
		case "allowlist":
			to = &allowlist
		case "allowed":
			to = &allowed
		default:
			return
		}
		doubled = doubled || *to != nil
		*to = value
		jsonrpc.Elements(value, func(entry []byte) {
			if entries++; to == &allowlist && entry[0] == '{' {
				objects++
			}
		})
	})
	switch {
	case entries > maxAllowed:
		return nil, status.Errorf(codes.InvalidArgument, "allowlist and allowed have %d tools, at most %d are allowed", entries, maxAllowed)
	case objects == 0 || doubled || allowed != nil && allowed[0] != '[':
		return body, nil
	}
	out := append(make([]byte, 0, len(body)+len(`,"allowed":[]`)), '{')
	jsonrpc.Members(body, func(name, value []byte) {
		if n := string(name); n != "allowlist" && n != "allowed" {
			out = append(append(append(jsonrpc.AppendString(out, n), ':'), value...), ',')
		}
	})
	isObject := func(entry []byte) bool { return entry[0] == '{' }
	out = appendEntries(append(out, `"allowlist":[`...), allowlist, func(entry []byte) bool { return !isObject(entry) })
	out = appendEntries(append(out, `],"allowed":[`...), allowlist, isObject)
	out = appendEntries(out, allowed, func([]byte) bool { return true })
	return append(out, "]}"...), nil
}

// appendEntries goes on with a list: with those entries of another one that are to be kept.
func appendEntries(b, list []byte, keep func(entry []byte) bool) []byte {
	jsonrpc.Elements(list, func(entry []byte) {
		if !keep(entry) {
			return
		}
		if b[len(b)-1] != '[' {
			b = append(b, ',')
		}
		b = append(b, entry...)
	})
	return b
}
