package llm

import (
	"bytes"
	"encoding/json"
	"strings"
)

// chunk is one document of an answer: a piece of a streamed one, or all of one that is not.
type chunk struct {
	Choices []choice `json:"choices"`
	Usage   *struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
	} `json:"usage"`
	Error json.RawMessage `json:"error"`
	Code  json.RawMessage `json:"code"` // of an error that is the whole document
}

type choice struct {
	Index   int    `json:"index"`
	Delta   piece  `json:"delta"`
	Message *piece `json:"message"` // of an answer that is not streamed
	Finish  string `json:"finish_reason"`
}

type piece struct {
	Content content     `json:"content"`
	Refusal string      `json:"refusal"` // the model's refusal, which comes instead of content
	Calls   []callPiece `json:"tool_calls"`
}

type callPiece struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string `json:"name"`
		Arguments args   `json:"arguments"`
	} `json:"function"`
}

// failed reports whether the document is an error.
func (c *chunk) failed() bool { return set(c.Error) || set(c.Code) && len(c.Choices) == 0 }

func set(b json.RawMessage) bool { return len(b) > 0 && !bytes.Equal(b, []byte("null")) }

// content is text, null, or a list of parts. Only parts of text are read: others hold the model's reasoning.
type content string

func (c *content) UnmarshalJSON(b []byte) error {
	if b[0] != '[' {
		return json.Unmarshal(b, (*string)(c))
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if err := json.Unmarshal(b, &parts); err != nil {
		return err
	}
	var text strings.Builder
	for _, p := range parts {
		text.WriteString(p.Text)
	}
	*c = content(text.String())
	return nil
}

// args is the text of a document, or the document itself if an endpoint has parsed it already.
type args string

func (a *args) UnmarshalJSON(b []byte) error {
	if b[0] == '{' {
		*a = args(b)
		return nil
	}
	return json.Unmarshal(b, (*string)(a))
}
