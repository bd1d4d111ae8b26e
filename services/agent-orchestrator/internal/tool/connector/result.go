package connector

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

// read makes a result of what a node answered. Three forms are known: content as MCP has it
// (docs/protocols/zeus-nodes.md#results), a ToolResult (docs/protocols/zeus-agents.md#results), and anything else, which is
// told to the model as compact JSON.
func read(answer *toolv1.Answer) tool.Result {
	var r reading
	if raw := answer.GetErrorJson(); raw != nil {
		r.error(raw)
	} else {
		r.result(answer.GetResultJson())
	}
	return r.done()
}

// reading collects a result.
type reading struct {
	texts   []string
	images  []tool.Artifact
	isError bool
	left    int // images that were too many
}

// maxArtifacts bounds the files that one answer makes.
const maxArtifacts = 16

func (r *reading) done() tool.Result {
	if r.left > 0 {
		r.say(fmt.Sprintf("[%d more images or files were left out]", r.left))
	}
	if len(r.texts) == 0 && len(r.images) > 0 {
		r.say(fmt.Sprintf("[%d image(s) or file(s), without text]", len(r.images)))
	}
	if strings.TrimSpace(strings.Join(r.texts, "")) == "" {
		r.texts = []string{"[the node answered without a result]"} // some models take no empty one
	}
	return tool.Result{Text: tool.CleanText(strings.Join(r.texts, "\n")), IsError: r.isError, Artifacts: r.images}
}

func (r *reading) say(text string) { r.texts = append(r.texts, text) }

// error reads a JSON-RPC error.
func (r *reading) error(raw []byte) {
	r.isError = true
	var e struct {
		Code    json.RawMessage `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	}
	if json.Unmarshal(raw, &e) != nil || e.Message == "" {
		r.say("The node answered with an error: " + compact(raw))
		return
	}
	text := fmt.Sprintf("%s (error %s)", e.Message, compact(e.Code))
	if !null(e.Data) {
		text += ": " + compact(e.Data)
	}
	r.say(text)
}

// result reads the `result` of an answer.
func (r *reading) result(raw []byte) {
	var members map[string]json.RawMessage
	if count(raw) > maxParts || json.Unmarshal(raw, &members) != nil || members == nil {
		r.value(raw)
		return
	}
	r.isError = string(members["isError"]) == "true" || string(members["success"]) == "false"
	shots := pictures(members)
	var items []json.RawMessage
	switch content := members["content"]; {
	case !null(members["success"]):
		r.toolResult(members)
	case null(content):
		r.rest(members, "content", "isError")
	case count(content) <= maxParts && json.Unmarshal(content, &items) == nil:
		for _, item := range items {
			r.item(item)
		}
		if len(items) == 0 && !null(members["structuredContent"]) {
			r.say(compact(members["structuredContent"]))
		}
	default: // one item, or a text
		r.item(content)
	}
	for _, shot := range shots {
		r.image(shot, "image/png")
	}
}

// maxParts is how many members or items of a result are decoded one by one. A member of three bytes takes a hundred once it
// is decoded; a result of more is shown as it is.
const maxParts = 4096

// count returns how many members an object has, or a list items.
func count(raw []byte) (n int) {
	jsonrpc.Members(raw, func(_, _ []byte) { n++ })
	jsonrpc.Elements(raw, func([]byte) { n++ })
	return n
}

// pictures takes the screenshots out of a result.
func pictures(members map[string]json.RawMessage) (shots []string) {
	for _, name := range []string{"_screenshot", "screenshot_url"} {
		shot := text(members[name])
		if shot != "" && (name == "_screenshot" || strings.HasPrefix(shot, "data:")) {
			shots = append(shots, shot)
			delete(members, name)
		}
	}
	return shots
}

// toolResult reads {success, message, content, file_path}, whose content is {type, data, …} or a text.
func (r *reading) toolResult(members map[string]json.RawMessage) {
	if message := text(members["message"]); message != "" {
		r.say(message)
	}
	var items []json.RawMessage
	if content := members["content"]; count(content) <= maxParts && json.Unmarshal(content, &items) == nil {
		for _, item := range items {
			r.item(item)
		}
	} else if !null(content) {
		r.item(content)
	}
	if path := text(members["file_path"]); path != "" {
		r.say("File: " + path)
	}
	r.rest(members, "success", "message", "content", "file_path", "isError")
}

// rest shows the model the members that were not read. If there is only one, it shows its value.
func (r *reading) rest(members map[string]json.RawMessage, read ...string) {
	for name, value := range members {
		if slices.Contains(read, name) || null(value) {
			delete(members, name)
		}
	}
	if len(members) == 0 {
		return
	}
	for _, name := range []string{"error", "result"} { // what some nodes put beside success
		if len(members) == 1 && members[name] != nil {
			r.value(members[name])
			return
		}
	}
	var left bytes.Buffer
	enc := json.NewEncoder(&left)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(members) // which came from JSON
	r.say(strings.TrimSuffix(left.String(), "\n"))
}

// value shows the model a value of no known form.
func (r *reading) value(raw []byte) {
	var s string
	switch {
	case null(bytes.TrimSpace(raw)):
	case json.Unmarshal(raw, &s) == nil:
		r.say(s)
	default:
		r.say(compact(raw))
	}
}

// text returns a JSON string, and "" for anything else.
func text(raw json.RawMessage) string {
	var s string
	_ = json.Unmarshal(raw, &s)
	return s
}

func null(raw json.RawMessage) bool {
	return len(raw) == 0 || string(raw) == "null"
}

func compact(raw []byte) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}
