package agentapi

import (
	"encoding/json"
	"net/url"
	"strconv"
	"strings"

	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/rest"
)

// dialect names the kinds of events.
type dialect struct{ text, result, complete string }

// The two namings that are documented (docs/protocols/zeus-agents.md#events). They differ in nothing else: each event has the
// fields of both, so that a client of either finds its own.
var (
	standard  = &dialect{text: "text", result: "tool_call_result", complete: "complete"}
	reference = &dialect{text: "message_chunk", result: "tool_result", complete: "done"}
)

// appendEvent writes an event as a server-sent event: its number and one line of JSON. An event of a kind that is not
// known here, a newer orchestrator's, is left out.
func appendEvent(b []byte, e *agentv1.Event, d *dialect) []byte {
	if e.GetKind() == nil {
		return b
	}
	b = strconv.AppendInt(append(b, "id: "...), e.GetSeq(), 10)
	b = append(b, "\ndata: "...)
	switch kind := e.GetKind().(type) {
	case *agentv1.Event_Text:
		b = addFieldsOfText(head(b, d.text, e), kind.Text)
	case *agentv1.Event_ToolCallChunk:
		b = addFieldsOfChunk(head(b, "tool_call_chunk", e), kind.ToolCallChunk)
	case *agentv1.Event_ToolCall:
		b = addFieldsOfCall(head(b, "tool_call", e), kind.ToolCall)
	case *agentv1.Event_ToolCallResult:
		b = addFieldsOfResult(head(b, d.result, e), kind.ToolCallResult)
	case *agentv1.Event_Interrupt:
		b = addFieldsOfInterrupt(head(b, "interrupt", e), kind.Interrupt)
	case *agentv1.Event_TokenUsage:
		b = head(b, "token_usage", e)
		b = addInt(b, "prompt_tokens", int64(kind.TokenUsage.GetPromptTokens()))
		b = addInt(b, "completion_tokens", int64(kind.TokenUsage.GetCompletionTokens()))
	case *agentv1.Event_Complete:
		b = head(b, d.complete, e)
		b = addString(b, "finish_reason", kind.Complete.GetFinishReason())
		b = addString(b, "content", kind.Complete.GetContent())
		b = addString(b, "summary", kind.Complete.GetSummary())
	case *agentv1.Event_SubAgentText:
		b = head(b, "sub_agent_text", e)
		b = addString(b, "content", kind.SubAgentText.GetContent())
	case *agentv1.Event_Skill:
		b = head(b, "skill", e)
		b = addString(b, "name", kind.Skill.GetName())
		b = addString(b, "reason", kind.Skill.GetReason())
	case *agentv1.Event_Error:
		b = head(b, "error", e)
		b = addString(b, "error", kind.Error.GetMessage())
		b = addString(b, "error_code", kind.Error.GetCode())
		b = addText(b, "details", kind.Error.GetDetails())
	}
	return append(b, "}\n\n"...)
}

// head begins an object with what every event has; those of sub-agents name the call that theirs does.
func head(b []byte, name string, e *agentv1.Event) []byte {
	b = append(b, `{"type":"`...)
	b = append(append(b, name...), '"')
	b = addInt(b, "seq", e.GetSeq())
	b = addString(b, "session_id", e.GetSessionId())
	b = addString(b, "run_id", e.GetRunId())
	return addText(b, "parent_tool_call_id", e.GetParentToolCallId())
}

func addFieldsOfText(b []byte, t *agentv1.Text) []byte {
	b = addString(b, "content", t.GetContent())
	b = addString(b, "role", "assistant")
	b = addText(b, "message_id", t.GetMessageId())
	return addText(b, "replaces", t.GetReplaces())
}

func addFieldsOfChunk(b []byte, c *agentv1.ToolCallChunk) []byte {
	b = addString(b, "tool_call_id", c.GetToolCallId())
	b = addString(b, "tool_name", c.GetToolName())
	b = addString(b, "args", c.GetArgs())
	return addText(b, "message_id", c.GetMessageId())
}

// addFieldsOfCall gives the arguments both names that are documented (docs/protocols/zeus-agents.md#events).
func addFieldsOfCall(b []byte, c *agentv1.ToolCall) []byte {
	b = addString(b, "tool_call_id", c.GetToolCallId())
	b = addString(b, "tool_name", c.GetToolName())
	b = addObject(b, "tool_args", c.GetToolArgsJson())
	b = addObject(b, "parameters", c.GetToolArgsJson())
	return addBool(b, "requires_approval", c.GetRequiresApproval())
}

func addFieldsOfResult(b []byte, r *agentv1.ToolCallResult) []byte {
	b = addString(b, "tool_call_id", r.GetToolCallId())
	b = addString(b, "tool_name", r.GetToolName())
	b = addString(b, "result", r.GetResult())
	b = addBool(b, "is_error", r.GetIsError())
	b = addText(b, "outcome", r.GetOutcome())
	b = addText(b, "reason", r.GetReason())
	b = addText(b, "file_path", r.GetFilePath())
	b = addText(b, "node_id", r.GetNodeId())
	if len(r.GetArtifacts()) == 0 {
		return b
	}
	b = append(addName(b, "content"), '[')
	for i, a := range r.GetArtifacts() {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendArtifact(b, a)
	}
	return append(b, ']')
}

// appendArtifact writes an item as a node's results have it (docs/protocols/zeus-nodes.md#results), and where to fetch it.
func appendArtifact(b []byte, a *agentv1.Artifact) []byte {
	b = jsonrpc.AppendString(append(b, `{"type":`...), a.GetType())
	b = addString(b, "mimeType", a.GetMimeType())
	if len(a.GetData()) > 0 {
		b = addBase64(b, "data", a.GetData())
	}
	b = addInt(b, "size", a.GetSize())
	if a.GetFilePath() != "" {
		b = addString(b, "file_path", a.GetFilePath())
		b = addString(b, "url", fileURL(a.GetFilePath()))
	}
	return append(b, '}')
}

// addAllow adds the entry of the user's allow-list that would let a tool run, as the settings take it.
func addAllow(b []byte, t *agentv1.AllowedTool) []byte {
	if t == nil {
		return b
	}
	b = jsonrpc.AppendString(append(addName(b, "allow"), `{"layer":`...), t.GetLayer())
	b = addString(b, "source", t.GetSource())
	b = addString(b, "tool", t.GetTool())
	b = addText(b, "fingerprint", t.GetFingerprint())
	return append(b, '}')
}

// fileURL is where a file of the workspace is served.
func fileURL(path string) string {
	parts := strings.Split(path, "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return FilesPath + strings.Join(parts, "/")
}

func addFieldsOfInterrupt(b []byte, i *agentv1.Interrupt) []byte {
	b = addString(b, "interrupt_id", i.GetInterruptId())
	b = addString(b, "reason", i.GetReason())
	b = append(addName(b, "tool_calls"), '[')
	for n, c := range i.GetToolCalls() {
		if n > 0 {
			b = append(b, ',')
		}
		b = jsonrpc.AppendString(append(b, `{"tool_call_id":`...), c.GetToolCallId())
		b = addString(b, "tool_name", c.GetToolName())
		b = addObject(b, "tool_args", c.GetToolArgsJson())
		b = addString(b, "node_id", c.GetNodeId())
		b = addString(b, "digest", c.GetDigest())
		b = addText(b, "parent_tool_call_id", c.GetParentToolCallId())
		b = addTime(b, "expires_at", c.GetExpiresAt())
		b = addAllow(addText(b, "why", c.GetWhy()), c.GetAllow())
		b = append(b, '}')
	}
	b = append(b, ']')
	if i.GetReason() != "node_selection" && len(i.GetAvailableNodes()) == 0 {
		return b
	}
	nodes, _ := json.Marshal(rest.List(i.GetAvailableNodes())) // of strings and numbers: it cannot fail
	return append(addName(b, "available_nodes"), nodes...)
}
