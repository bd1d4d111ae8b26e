package wire

import (
	"net/http"
	"strconv"

	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
)

// Codes of MCP's own, from the range that belongs to its specification.
const (
	CodeHeaderMismatch    = -32020
	CodeMissingCapability = -32021
	CodeVersion           = -32022
)

// Error is a request that is answered with a JSON-RPC error.
type Error struct {
	Code    int
	Message string
	Data    []byte // JSON; nil for none
	// Status is that of HTTP in the stateless revisions, and wherever a request does not get as far as its method.
	Status int
}

func (e *Error) Error() string { return e.Message }

// Append appends the answer to the request of that id, which is JSON; nil for an answer without id.
func (e *Error) Append(b, id []byte) []byte {
	b = append(b, `{"jsonrpc":"2.0",`...)
	if id != nil {
		b = append(append(append(b, `"id":`...), id...), ',')
	}
	b = strconv.AppendInt(append(b, `"error":{"code":`...), int64(e.Code), 10)
	b = jsonrpc.AppendString(append(b, `,"message":`...), e.Message)
	if e.Data != nil {
		b = append(append(b, `,"data":`...), e.Data...)
	}
	return append(b, "}}"...)
}

// BadParams refuses the parameters of a request.
func BadParams(message string) *Error {
	return &Error{Code: jsonrpc.CodeInvalidParams, Message: message, Status: http.StatusBadRequest}
}

// Invalid refuses parameters that are well formed, and mean nothing here.
func Invalid(message string) *Error {
	return &Error{Code: jsonrpc.CodeInvalidParams, Message: message, Status: http.StatusOK}
}

// BadRequest refuses what is no request.
func BadRequest(message string) *Error {
	return &Error{Code: jsonrpc.CodeInvalidRequest, Message: message, Status: http.StatusBadRequest}
}

// NotFound refuses a method that is not there.
func NotFound(method string) *Error {
	return &Error{Code: jsonrpc.CodeMethodNotFound, Message: "Method not found: " + clip(method), Status: http.StatusNotFound}
}

func mismatch(message string) *Error {
	return &Error{Code: CodeHeaderMismatch, Message: "Header mismatch: " + message, Status: http.StatusBadRequest}
}

// unsupported refuses a stateless version that is not served.
func unsupported(version string) *Error {
	data := []byte(`{"supported":[`)
	for i, v := range Supported {
		if i > 0 {
			data = append(data, ',')
		}
		data = jsonrpc.AppendString(data, v)
	}
	data = append(jsonrpc.AppendString(append(data, `],"requested":`...), clip(version)), '}')
	return &Error{Code: CodeVersion, Message: "Unsupported protocol version", Data: data, Status: http.StatusBadRequest}
}

// MissingCapability refuses a request that needs something its client does not declare. capabilities is a ClientCapabilities
// object with what is needed.
func MissingCapability(capabilities string) *Error {
	return &Error{
		Code: CodeMissingCapability, Message: "The request needs a capability that the client does not declare",
		Data: []byte(`{"requiredCapabilities":` + capabilities + `}`), Status: http.StatusBadRequest,
	}
}

// clip keeps what is repeated to a client short.
func clip(s string) string {
	const most = 128
	if len(s) <= most {
		return s
	}
	return s[:most] + "…"
}
