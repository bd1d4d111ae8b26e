package chatwire

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
)

// Request is a question.
type Request struct {
	Model         string    `json:"model"`
	Messages      []Message `json:"messages"`
	Tools         []Tool    `json:"tools"`
	Stream        bool      `json:"stream"`
	Temperature   *float64  `json:"temperature"`
	StreamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
}

// Message is one message of a request.
type Message struct {
	Role       string     `json:"role"`
	Content    Content    `json:"content"`
	ToolCalls  []ToolCall `json:"tool_calls"`
	ToolCallID string     `json:"tool_call_id"`
}

// Content is a message's text. It is read from a string, from null and from a list of parts, of which the text counts.
type Content string

// UnmarshalJSON implements [json.Unmarshaler].
func (c *Content) UnmarshalJSON(b []byte) error {
	b = bytes.TrimSpace(b)
	if len(b) > 0 && b[0] == '[' {
		var parts []struct {
			Text string `json:"text"`
		}
		if err := json.Unmarshal(b, &parts); err != nil {
			return errors.New("content is neither text nor parts of text")
		}
		var text strings.Builder
		for _, p := range parts {
			text.WriteString(p.Text)
		}
		*c = Content(text.String())
		return nil
	}
	var text string
	if err := json.Unmarshal(b, &text); err != nil {
		return errors.New("content is neither text nor parts of text")
	}
	*c = Content(text)
	return nil
}

// Tool is a tool on offer.
type Tool struct {
	Type     string   `json:"type"`
	Function Function `json:"function"`
}

// Function is what a model is told of a tool.
type Function struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

// ToolCall is a call, or in a streamed answer a piece of one. Index is only in pieces.
type ToolCall struct {
	Index    *int     `json:"index,omitempty"`
	ID       string   `json:"id,omitempty"`
	Type     string   `json:"type,omitempty"`
	Function CallText `json:"function"`
}

// CallText is what a model wrote of a call.
type CallText struct {
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments"`
}
