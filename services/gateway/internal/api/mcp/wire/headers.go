package wire

import (
	"encoding/base64"
	"mime"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
)

// The headers of the transport.
const (
	HeaderVersion = "Mcp-Protocol-Version"
	HeaderSession = "Mcp-Session-Id"
	HeaderMethod  = "Mcp-Method"
	HeaderName    = "Mcp-Name"
)

// Accepts reports whether a client reads all the given media types, by its Accept headers.
func Accepts(h http.Header, types ...string) bool {
	ranges := strings.Split(strings.Join(h.Values("Accept"), ","), ",")
	for _, want := range types {
		major, _, _ := strings.Cut(want, "/")
		if !slices.ContainsFunc(ranges, func(r string) bool {
			got, params, err := mime.ParseMediaType(r)
			return err == nil && (got == want || got == "*/*" || got == major+"/*") && !zero(params["q"])
		}) {
			return false
		}
	}
	return true
}

// zero reports whether a weight says never.
func zero(q string) bool { return q != "" && strings.Trim(q, "0.") == "" }

// StatelessRequest reports whether a message belongs to the revisions without sessions.
func StatelessRequest(h http.Header, m *Message) bool {
	return m.Meta.hasVersion || IsStateless(h.Get(HeaderVersion))
}

// CheckStateless checks what each request of the stateless revisions brings beside its own parameters.
func CheckStateless(h http.Header, m *Message) *Error {
	version, err := header(h, HeaderVersion)
	if err != nil {
		return err
	}
	if !m.IsNotification() || m.Meta.hasVersion {
		if !m.Meta.hasVersion {
			return BadParams("Invalid params: _meta[" + metaPrefix + "protocolVersion] is required")
		}
		if version != m.Meta.Version {
			return mismatch(HeaderVersion + " is not what _meta says")
		}
	}
	if version != Stateless {
		return unsupported(version)
	}
	if m.IsNotification() {
		return nil
	}
	if err := same(h, HeaderMethod, m.Method); err != nil {
		return err
	}
	if name, named := target(m); named {
		if err := same(h, HeaderName, name); err != nil {
			return err
		}
	}
	if m.Meta.Capabilities == nil {
		return BadParams("Invalid params: _meta[" + metaPrefix + "clientCapabilities] is required")
	}
	return nil
}

// target is what a request's Mcp-Name has to say.
func target(m *Message) (name string, named bool) {
	member := ""
	switch m.Method {
	case "tools/call", "prompts/get":
		member = "name"
	case "resources/read":
		member = "uri"
	case "tasks/get", "tasks/update", "tasks/cancel":
		member = "taskId"
	default:
		return "", false
	}
	raw := Member(m.Params, member)
	return string(jsonrpc.Text(raw)), raw != nil
}

func same(h http.Header, name, want string) *Error {
	got, err := header(h, name)
	if err != nil {
		return err
	}
	if got != want {
		return mismatch(name + " is not what the body says")
	}
	return nil
}

// header returns the text of a header that a request must have once.
func header(h http.Header, name string) (string, *Error) {
	values := h.Values(name)
	switch {
	case len(values) == 0:
		return "", mismatch(name + " is missing")
	case len(values) > 1:
		return "", mismatch(name + " stands there more than once")
	}
	text, ok := decode(values[0])
	if !ok {
		return "", mismatch(name + " is malformed")
	}
	return text, nil
}

const base64Begin, base64End = "=?base64?", "?="

// decode returns the text that a header's value stands for.
func decode(value string) (string, bool) {
	inner, ok := strings.CutPrefix(value, base64Begin)
	if !ok {
		return value, !strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r > '~' })
	}
	if inner, ok = strings.CutSuffix(inner, base64End); !ok {
		return value, true // it only begins like that
	}
	raw, err := base64.StdEncoding.DecodeString(inner)
	return string(raw), err == nil && utf8.Valid(raw)
}
