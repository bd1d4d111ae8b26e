package jsonrpc

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// Codes of JSON-RPC 2.0, section 5.1.
const (
	CodeParseError     = -32700
	CodeInvalidRequest = -32600
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
	CodeInternalError  = -32603
)

// Error is the `error` member of an answer.
type Error struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

func (e *Error) Error() string { return e.Message }

// Meta is what `params._meta` of a call holds, for nodes with the capability mcp_meta.
type Meta struct {
	ProgressToken string
	Traceparent   string
}

// Call is a tools/call request (docs/protocols/zeus-nodes.md#calls).
type Call struct {
	ID        string
	Tool      string
	Arguments []byte // a validated JSON object; empty means {}
	SessionID string // left out where empty
}

// Append appends the frame to b, its members in the documented order.
func (c Call) Append(b []byte) []byte {
	b = append(b, beforeID...)
	b = AppendString(b, c.ID)
	b = append(b, beforeTool...)
	b = AppendString(b, c.Tool)
	b = append(b, afterTool...)
	if len(c.Arguments) == 0 {
		b = append(b, `{}`...)
	}
	b = append(b, c.Arguments...)
	if c.SessionID != "" {
		b = append(b, `,"session_id":`...)
		b = AppendString(b, c.SessionID)
	}
	return append(b, "}}"...)
}

// What stands in a Call's frame around its id and its tool.
const (
	beforeID   = `{"jsonrpc":"2.0","id":`
	beforeTool = `,"method":"tools/call","params":{"name":`
	afterTool  = `,"arguments":`
)

// ToolOf returns the tool that the frame of a [Call] names, without looking at the arguments; ok is false for a frame that does
// not begin as those do.
func ToolOf(frame []byte) (tool string, ok bool) {
	id, ok := bytes.CutPrefix(frame, []byte(beforeID))
	if !ok || len(id) == 0 || id[0] != '"' {
		return "", false
	}
	name, ok := bytes.CutPrefix(id[skipString(id, 0):], []byte(beforeTool))
	if !ok || len(name) == 0 || name[0] != '"' {
		return "", false
	}
	end := skipString(name, 0)
	if !bytes.HasPrefix(name[end:], []byte(afterTool)) {
		return "", false
	}
	return string(Text(name[:end])), true
}

// Append appends the member `"_meta":{…}` to b.
func (m Meta) Append(b []byte) []byte {
	b = append(b, `"_meta":{"progressToken":`...)
	b = AppendString(b, m.ProgressToken)
	if m.Traceparent != "" {
		b = append(b, `,"traceparent":`...)
		b = AppendString(b, m.Traceparent)
	}
	return append(b, '}')
}

// Cancelled returns the notification that a call was given up.
func Cancelled(id, reason string) []byte {
	b := append(make([]byte, 0, 160), `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`...)
	b = AppendString(b, id)
	b = append(b, `,"reason":`...)
	b = AppendString(b, reason)
	return append(b, "}}"...)
}

// ErrorFrame returns an error answer. id is raw JSON; nil answers with null.
func ErrorFrame(id []byte, code int, message string) []byte {
	if id == nil {
		id = []byte("null")
	}
	b := append(make([]byte, 0, 128), `{"jsonrpc":"2.0","id":`...)
	b = append(b, id...)
	b = append(b, `,"error":{"code":`...)
	b = strconv.AppendInt(b, int64(code), 10)
	b = append(b, `,"message":`...)
	b = AppendString(b, message)
	return append(b, "}}"...)
}
