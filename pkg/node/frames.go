package node

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/tool/tooldef"
	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
)

// MaxFrameBytes is how long a frame may be in either direction (docs/protocols/zeus-nodes.md#malformed-frames).
const MaxFrameBytes = 10 << 20

// codeBusy is the one error code of ours: JSON-RPC leaves -32000 to -32099 to implementations.
const codeBusy = -32000

// What a gateway sends is one of these, after parse.
type (
	callFrame struct {
		id   callID
		call Call
		// progressToken is raw JSON, nil where the caller wants no progress.
		progressToken json.RawMessage
	}
	cancelFrame struct {
		id     callID
		reason string
	}
	pingFrame       struct{}
	registeredFrame struct {
		Success bool   `json:"success"`
		Error   string `json:"error"`
	}
	tokenAckFrame struct {
		Success bool   `json:"success"`
		Error   string `json:"error"`
	}
	// ignoredFrame is nothing to act on: acknowledgements, and what this protocol does not know.
	ignoredFrame struct{ what string }
	// badFrame is answered with an error.
	badFrame struct {
		id      json.RawMessage
		code    int
		message string
	}
)

// callID is the id of a call as raw JSON, which is how it is echoed and compared: a gateway writes one id one way.
type callID string

// parse says what a frame is. It never fails: what is malformed is a badFrame. Answers are never answered, so that two
// peers cannot send each other errors without end.
func parse(data []byte) any {
	frame, err := jsonrpc.Skim(data)
	switch {
	case errors.Is(err, jsonrpc.ErrNotObject):
		return badFrame{code: jsonrpc.CodeInvalidRequest, message: err.Error()}
	case err != nil:
		return badFrame{code: jsonrpc.CodeParseError, message: err.Error()}
	case frame.JSONRPC != nil:
		return parseRPC(frame)
	}
	switch kind := string(jsonrpc.Text(frame.Type)); kind {
	case "ping":
		return pingFrame{}
	case "registered":
		var r registeredFrame
		if err := json.Unmarshal(data, &r); err != nil {
			return registeredFrame{Error: "the answer cannot be read: " + err.Error()}
		}
		return r
	case "token_ack":
		var r tokenAckFrame
		if err := json.Unmarshal(data, &r); err != nil {
			return tokenAckFrame{Error: "the answer cannot be read: " + err.Error()}
		}
		return r
	default:
		return ignoredFrame{what: kind}
	}
}

func parseRPC(f jsonrpc.Frame) any {
	method := string(jsonrpc.Text(f.Method))
	id, err := parseID(f.ID)
	switch {
	case string(jsonrpc.Text(f.JSONRPC)) != "2.0":
		return badRequest(f.ID, err, `jsonrpc must be "2.0"`)
	case f.Method == nil:
		return ignoredFrame{what: "an answer"}
	case method == "":
		return badRequest(f.ID, err, "method must be a name")
	case method == "notifications/cancelled":
		return parseCancel(f.Params)
	case f.ID == nil:
		return ignoredFrame{what: "the notification " + method}
	case err != nil:
		return badRequest(f.ID, err, err.Error())
	case method != "tools/call":
		return badFrame{json.RawMessage(id), jsonrpc.CodeMethodNotFound, fmt.Sprintf("Method not found: %q; a node knows tools/call", method)}
	}
	return parseCall(id, f.Params)
}

// badRequest echoes the id only where it is one.
func badRequest(id json.RawMessage, idProblem error, message string) badFrame {
	if idProblem != nil {
		id = nil
	}
	return badFrame{id, jsonrpc.CodeInvalidRequest, message}
}

func parseID(raw []byte) (callID, error) {
	switch {
	case len(raw) > ids.MaxBytes:
		return "", fmt.Errorf("id has %d bytes, at most %d are allowed", len(raw), ids.MaxBytes)
	case len(raw) == 0, raw[0] != '"' && raw[0] != '-' && (raw[0] < '0' || raw[0] > '9'):
		return "", errors.New("id must be a string or a number")
	}
	return callID(raw), nil
}

func parseCall(id callID, params []byte) any {
	bad := func(message string) any {
		return badFrame{json.RawMessage(id), jsonrpc.CodeInvalidParams, message}
	}
	if !jsonrpc.IsObject(params) {
		return bad("params must be an object")
	}
	var p struct {
		Name      json.RawMessage `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
		SessionID json.RawMessage `json:"session_id"`
		Meta      json.RawMessage `json:"_meta"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return bad("params cannot be read: " + err.Error())
	}
	name := jsonrpc.Text(p.Name)
	switch {
	case len(name) == 0:
		return bad("params.name must be the name of a tool")
	case jsonrpc.IsNull(p.Arguments):
		p.Arguments = json.RawMessage("{}")
	case !jsonrpc.IsObject(p.Arguments):
		return bad("params.arguments must be an object")
	}
	if !jsonrpc.IsNull(p.SessionID) && jsonrpc.Text(p.SessionID) == nil {
		return bad("params.session_id must be a string")
	}
	if !jsonrpc.IsNull(p.Meta) && !jsonrpc.IsObject(p.Meta) {
		return bad("params._meta must be an object")
	}
	return callFrame{
		id: id,
		call: Call{
			ID:        displayID(id),
			Tool:      string(name),
			Arguments: bytes.Clone(p.Arguments),
			SessionID: string(jsonrpc.Text(p.SessionID)),
			Meta:      p.Meta,
		},
		progressToken: progressToken(p.Meta),
	}
}

// progressToken returns the token of params._meta, nil where there is none that can be echoed.
func progressToken(meta json.RawMessage) json.RawMessage {
	if !jsonrpc.IsObject(meta) {
		return nil
	}
	var m struct {
		ProgressToken json.RawMessage `json:"progressToken"`
	}
	if json.Unmarshal(meta, &m) != nil {
		return nil
	}
	if _, err := parseID(m.ProgressToken); err != nil {
		return nil
	}
	return m.ProgressToken
}

func parseCancel(params []byte) any {
	var p struct {
		RequestID json.RawMessage `json:"requestId"`
		Reason    string          `json:"reason"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return ignoredFrame{what: "a cancellation that cannot be read"}
	}
	id, err := parseID(p.RequestID)
	if err != nil {
		return ignoredFrame{what: "a cancellation without the id of a call"}
	}
	return cancelFrame{id: id, reason: p.Reason}
}

// displayID returns the text of an id, for handlers and logs.
func displayID(id callID) string {
	if text := jsonrpc.Text([]byte(id)); text != nil {
		return string(text)
	}
	return string(id)
}

// heartbeat is always "online": "busy" would not reduce the node's load, and the number of tasks says more.
func heartbeat(tasks int) []byte {
	return fmt.Appendf(nil, `{"type":"heartbeat","status":"online","current_tasks":%d}`, tasks)
}

var pong = []byte(`{"type":"pong"}`)

// register returns the register message; what is not known is left to the gateway's defaults.
func register(o Options, tools []string, defs []tooldef.Definition) ([]byte, error) {
	return encode(struct {
		Type       string               `json:"type"`
		NodeID     string               `json:"node_id"`
		NodeName   string               `json:"node_name,omitempty"`
		NodeType   Kind                 `json:"node_type"`
		OS         string               `json:"os,omitempty"`
		OSVersion  string               `json:"os_version,omitempty"`
		AppVersion string               `json:"app_version,omitempty"`
		Features   []string             `json:"capabilities"`
		Tools      []string             `json:"available_tools"`
		Defs       []tooldef.Definition `json:"tools,omitempty"`
		MaxTasks   int                  `json:"max_concurrent_tasks"`
	}{"register", o.NodeID, o.Name, o.Kind, o.OS, o.OSVersion, o.AppVersion, o.Capabilities, tools, defs, o.MaxConcurrentTasks})
}

// encode is json.Marshal without the escapes that only HTML needs.
func encode(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}
