package mcpstdio

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
)

// Names of the protocol.
const (
	headerSession = "Mcp-Session-Id"
	headerVersion = "Mcp-Protocol-Version"
	metaVersion   = "io.modelcontextprotocol/protocolVersion"
	initialize    = "initialize"
	cancelled     = "notifications/cancelled"
	listen        = "subscriptions/listen"
)

// message is one line of the client's.
type message struct {
	raw    []byte
	id     []byte // as it stands; nil for a notification, an answer or a batch
	method string // empty for an answer or a batch
	name   string // of what a request is about, where the stateless revisions want it in a header
	// version is that of a stateless request; empty in a session.
	version string
}

// read takes a line apart as far as HTTP needs it. What is no object passes, and the gateway says what is wrong with it.
func read(line []byte) *message {
	m := &message{raw: line}
	if jsonrpc.Valid(line) != nil || !jsonrpc.IsObject(line) {
		return m
	}
	members := jsonrpc.RawMembers(line, "id", "method", "params")
	m.method = string(jsonrpc.Text(members["method"]))
	if m.method != "" && !jsonrpc.IsNull(members["id"]) {
		m.id = members["id"]
	}
	if !jsonrpc.IsObject(members["params"]) {
		return m
	}
	params := jsonrpc.RawMembers(members["params"], "name", "uri", "taskId", "_meta")
	if jsonrpc.IsObject(params["_meta"]) {
		m.version = jsonrpc.StringMember(params["_meta"], metaVersion)
	}
	switch {
	case slices.Contains([]string{"tools/call", "prompts/get"}, m.method):
		m.name = string(jsonrpc.Text(params["name"]))
	case m.method == "resources/read":
		m.name = string(jsonrpc.Text(params["uri"]))
	case strings.HasPrefix(m.method, "tasks/"):
		m.name = string(jsonrpc.Text(params["taskId"]))
	}
	return m
}

// cancels returns the id of the request that a notification gives up; nil where it is none.
func (m *message) cancels() []byte {
	if m.method != cancelled {
		return nil
	}
	params := jsonrpc.RawMembers(m.raw, "params")["params"]
	if !jsonrpc.IsObject(params) {
		return nil
	}
	return jsonrpc.RawMembers(params, "requestId")["requestId"]
}

// headers adds what a stateless request says in its headers, too.
func (m *message) headers(h http.Header) {
	if m.version == "" {
		return
	}
	h.Set(headerVersion, m.version)
	h.Set("Mcp-Method", headerValue(m.method))
	if m.name != "" {
		h.Set("Mcp-Name", headerValue(m.name))
	}
}

// headerValue encodes what a header cannot hold, or what would be taken for encoded.
func headerValue(text string) string {
	odd := func(r rune) bool { return r < 0x20 || r > 0x7e }
	if strings.ContainsFunc(text, odd) || strings.TrimSpace(text) != text || strings.HasPrefix(text, "=?base64?") {
		return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(text)) + "?="
	}
	return text
}

// reads reports whether a request changes nothing, so that it may be asked twice.
func (m *message) reads() bool {
	switch m.method {
	case initialize, "ping", "server/discover", "tools/list", "resources/list", "resources/templates/list", "resources/read", "prompts/list",
		"prompts/get", "completion/complete", "tasks/get", listen, "logging/setLevel":
		return true
	}
	return m.id == nil && m.method != "" // a notification
}

// answers reports whether a message of the server's answers the request with this id, or with nil one that could not be read.
func answers(data, id []byte) bool {
	if !jsonrpc.IsObject(data) {
		return false
	}
	members := jsonrpc.RawMembers(data, "id", "method")
	if id == nil {
		return members["method"] == nil && jsonrpc.IsNull(members["id"])
	}
	return members["method"] == nil && bytes.Equal(members["id"], id)
}

// failure is the answer to a request that the gateway did not answer. A tool's is a result, which its model reads.
func failure(m *message, text, reason, outcome string) []byte {
	answer := map[string]any{"jsonrpc": "2.0", "id": json.RawMessage(m.id)}
	if m.method == "tools/call" {
		result := map[string]any{
			"content": []any{map[string]any{"type": "text", "text": text}}, "isError": true,
			"_meta": map[string]any{"dev.hecaton/reason": reason, "dev.hecaton/outcome": outcome},
		}
		if m.version != "" {
			result["resultType"] = "complete"
		}
		answer["result"] = result
	} else {
		answer["error"] = map[string]any{
			"code": -32603, "message": text, "data": map[string]any{"reason": reason, "outcome": outcome},
		}
	}
	raw, _ := json.Marshal(answer) // what is in it always encodes
	return raw
}
