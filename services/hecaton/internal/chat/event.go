package chat

import (
	"encoding/json"
	"time"
)

// event is one event of a run: the union of what the kinds have (docs/protocols/zeus-agents.md#events).
type event struct {
	Type      string `json:"type"`
	Seq       int64  `json:"seq"`
	SessionID string `json:"session_id"`

	Content   json.RawMessage `json:"content"` // a text, or the artifacts of a result
	MessageID string          `json:"message_id"`
	Replaces  string          `json:"replaces"`

	ToolCallID string          `json:"tool_call_id"`
	Parent     string          `json:"parent_tool_call_id"` // the call that a sub-agent does, where it did this
	ToolName   string          `json:"tool_name"`
	ToolArgs   json.RawMessage `json:"tool_args"`
	Result     string          `json:"result"`
	IsError    bool            `json:"is_error"`
	Outcome    string          `json:"outcome"`
	FilePath   string          `json:"file_path"`

	interrupt

	Name string `json:"name"` // of a skill

	FinishReason string `json:"finish_reason"`
	Error        string `json:"error"`
	ErrorCode    string `json:"error_code"`
	Details      string `json:"details"`
}

// interrupt is what a run waits for.
type interrupt struct {
	InterruptID    string    `json:"interrupt_id"`
	Reason         string    `json:"reason"`
	ToolCalls      []Pending `json:"tool_calls"`
	AvailableNodes []node    `json:"available_nodes"`
}

// Pending is a call that somebody has to decide about.
type Pending struct {
	ID      string          `json:"tool_call_id"`
	Tool    string          `json:"tool_name"`
	Args    json.RawMessage `json:"tool_args"`
	Node    string          `json:"node_id"`
	Digest  string          `json:"digest"`
	Parent  string          `json:"parent_tool_call_id"`
	Expires time.Time       `json:"expires_at"`
	// Why it asks; "" where the server does not say.
	Why string `json:"why"`
	// Allow is the entry with which the user's allow-list would let it run.
	Allow allowed `json:"allow"`
}

// Decision is what was decided about a call.
type Decision struct {
	ID       string          `json:"tool_call_id"`
	Tool     string          `json:"tool_name"`
	Decision string          `json:"decision"`
	Reason   string          `json:"reason,omitempty"`
	Args     json.RawMessage `json:"tool_args,omitempty"`
	Digest   string          `json:"digest,omitempty"`
}

// Approve says that the call may run as it was shown.
func (p Pending) Approve() Decision {
	return Decision{ID: p.ID, Tool: p.Tool, Decision: "approved", Digest: p.Digest}
}

// Reject says that it may not, and why.
func (p Pending) Reject(reason string) Decision {
	return Decision{ID: p.ID, Tool: p.Tool, Decision: "rejected", Reason: reason, Digest: p.Digest}
}

// modify says that it shall run with other arguments.
func (p Pending) modify(args json.RawMessage) Decision {
	return Decision{ID: p.ID, Tool: p.Tool, Decision: "modified", Args: args, Digest: p.Digest}
}

type node struct {
	ID     string `json:"node_id"`
	Type   string `json:"node_type"`
	Name   string `json:"node_name"`
	Status string `json:"status"`
}

// artifact is an image or file of a result.
type artifact struct {
	Type     string `json:"type"`
	MIMEType string `json:"mimeType"`
	Size     int64  `json:"size"`
	FilePath string `json:"file_path"`
}

func (e event) text() string {
	var text string
	_ = json.Unmarshal(e.Content, &text) // of other kinds it is none
	return text
}

func (e event) artifacts() []artifact {
	var list []artifact
	_ = json.Unmarshal(e.Content, &list)
	return list
}

// Session is what the API says of a session.
type Session struct {
	ID           string     `json:"session_id"`
	Status       string     `json:"status"`
	FinishReason string     `json:"finish_reason"`
	LastSeq      float64    `json:"last_seq"`
	Interrupt    *interrupt `json:"interrupt"`
}

// Settings are a user's approval settings.
type Settings struct {
	Mode string `json:"mode"`
	// Allowlist has the names of the tools on the list.
	Allowlist []string `json:"allowlist"`
	// Allowed are the tools on the allow-list, each with its source and its definition.
	Allowed []allowed `json:"allowed"`
}

// allowed is one entry of an allow-list. This package passes it on as it is.
type allowed = json.RawMessage
