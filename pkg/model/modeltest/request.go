package modeltest

import (
	"net/http"
	"slices"
	"strings"

	"github.com/hecaton-dev/hecaton/pkg/model/internal/chatwire"
)

// Request is one that came.
type Request struct {
	Model    string
	Messages []Message
	// Tools are the names of the tools on offer.
	Tools  []string
	Header http.Header
	// Body is the request as it came.
	Body []byte

	stream, usage bool
}

// Message is one message of a request.
type Message struct {
	Role    string
	Content string
	Calls   []ToolCall // Args is a string
	CallID  string
}

// Key is the API key that came with the request, or "".
func (r Request) Key() string {
	key, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return key
}

// Last is the last message of this role; ok is false where there is none.
func (r Request) Last(role string) (m Message, ok bool) {
	for _, m := range slices.Backward(r.Messages) {
		if m.Role == role {
			return m, true
		}
	}
	return Message{}, false
}

// Mentions matches requests of which a message contains text (for [Server.When]).
func Mentions(text string) func(Request) bool {
	return func(r Request) bool {
		for _, m := range r.Messages {
			if strings.Contains(m.Content, text) {
				return true
			}
		}
		return false
	}
}

func newRequest(wire chatwire.Request, header http.Header, body []byte) Request {
	r := Request{
		Model: wire.Model, Header: header.Clone(), Body: body,
		stream: wire.Stream, usage: wire.StreamOptions.IncludeUsage,
	}
	for _, m := range wire.Messages {
		out := Message{Role: m.Role, Content: string(m.Content), CallID: m.ToolCallID}
		for _, c := range m.ToolCalls {
			out.Calls = append(out.Calls, ToolCall{ID: c.ID, Name: c.Function.Name, Args: c.Function.Arguments})
		}
		r.Messages = append(r.Messages, out)
	}
	for _, t := range wire.Tools {
		r.Tools = append(r.Tools, t.Function.Name)
	}
	return r
}
