package chatwire

import (
	"encoding/json"
	"net/http"
)

// Delta is a piece of an answer.
type Delta struct {
	Role      string     `json:"role,omitempty"`
	Content   string     `json:"content,omitempty"`
	ToolCalls []ToolCall `json:"tool_calls,omitempty"`
}

// Usage is what an answer took, in tokens.
type Usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
}

// NewUsage adds up.
func NewUsage(prompt, completion int) *Usage {
	return &Usage{Prompt: prompt, Completion: completion, Total: prompt + completion}
}

type chunk struct {
	ID      string        `json:"id"`
	Object  string        `json:"object"`
	Created int           `json:"created"`
	Model   string        `json:"model"`
	Choices []chunkChoice `json:"choices"`
	Usage   *Usage        `json:"usage,omitempty"`
}

type chunkChoice struct {
	Index  int     `json:"index"`
	Delta  Delta   `json:"delta"`
	Finish *string `json:"finish_reason"`
}

// Stream writes one answer as server-sent events, each of which is on its way when its method returns. Its methods return
// the connection's error.
type Stream struct {
	ID    string
	Model string

	w     http.ResponseWriter
	flush func() error
}

// NewStream writes the head of a streamed answer.
func NewStream(w http.ResponseWriter, id, model string) *Stream {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	w.WriteHeader(http.StatusOK)
	s := &Stream{ID: id, Model: model, w: w, flush: http.NewResponseController(w).Flush}
	_ = s.flush() // an error is the next write's as well
	return s
}

// Piece writes a piece.
func (s *Stream) Piece(d Delta) error {
	return s.chunk(chunk{Choices: []chunkChoice{{Delta: d}}})
}

// Finish writes why the answer ends here.
func (s *Stream) Finish(reason string) error {
	return s.chunk(chunk{Choices: []chunkChoice{{Finish: &reason}}})
}

// Usage writes what the answer took.
func (s *Stream) Usage(u *Usage) error {
	return s.chunk(chunk{Choices: []chunkChoice{}, Usage: u})
}

// Done writes the end of the stream.
func (s *Stream) Done() error { return s.Raw([]byte("data: [DONE]\n\n")) }

// Raw writes b as it is.
func (s *Stream) Raw(b []byte) error {
	if _, err := s.w.Write(b); err != nil {
		return err
	}
	return s.flush()
}

func (s *Stream) chunk(c chunk) error {
	c.ID, c.Object, c.Model = s.ID, "chat.completion.chunk", s.Model
	b, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return s.Raw(append(append([]byte("data: "), b...), "\n\n"...))
}

type whole struct {
	ID      string        `json:"id"`
	Object  string        `json:"object"`
	Created int           `json:"created"`
	Model   string        `json:"model"`
	Choices []wholeChoice `json:"choices"`
	Usage   *Usage        `json:"usage,omitempty"`
}

type wholeChoice struct {
	Index   int    `json:"index"`
	Message Delta  `json:"message"`
	Finish  string `json:"finish_reason"`
}

// WriteWhole writes an answer that is not streamed.
func WriteWhole(w http.ResponseWriter, id, model string, message Delta, finish string, u *Usage) {
	message.Role = "assistant"
	WriteJSON(w, http.StatusOK, whole{
		ID: id, Object: "chat.completion", Model: model,
		Choices: []wholeChoice{{Message: message, Finish: finish}}, Usage: u,
	})
}

// WriteError writes a refusal as the interface has it.
func WriteError(w http.ResponseWriter, status int, kind, message string) {
	type body struct {
		Message string `json:"message"`
		Type    string `json:"type"`
		Code    any    `json:"code"`
	}
	WriteJSON(w, status, map[string]body{"error": {Message: message, Type: kind}})
}

// WriteJSON writes v. An error is that of a client that has gone.
func WriteJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}
