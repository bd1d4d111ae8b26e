package offlinemodel

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hecaton-dev/hecaton/pkg/model/internal/chatwire"
	"github.com/hecaton-dev/hecaton/pkg/process/sleep"
)

const (
	maxRequest = 64 << 20
	answerID   = "chatcmpl-" + Name
	argsPiece  = 16 // bytes of arguments in a piece
)

// Options pace the model.
type Options struct {
	// Delay is the time before each piece of an answer; 0 answers at once.
	Delay time.Duration
}

// New returns the endpoint: POST /v1/chat/completions, streamed or whole, and GET /v1/models. It takes any model name and
// any key, and answers as [Name].
func New(o Options) http.Handler {
	m := &model{delay: o.Delay}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", m.complete)
	mux.HandleFunc("GET /v1/models", m.models)
	return mux
}

type model struct {
	delay time.Duration
}

func (m *model) models(w http.ResponseWriter, _ *http.Request) {
	type entry struct {
		ID      string `json:"id"`
		Object  string `json:"object"`
		Created int    `json:"created"`
		OwnedBy string `json:"owned_by"`
	}
	chatwire.WriteJSON(w, http.StatusOK, struct {
		Object string  `json:"object"`
		Data   []entry `json:"data"`
	}{"list", []entry{{Name, "model", 0, "hecaton"}}})
}

func (m *model) complete(w http.ResponseWriter, r *http.Request) {
	var req chatwire.Request
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxRequest)).Decode(&req); err != nil {
		chatwire.WriteError(w, http.StatusBadRequest, "invalid_request_error", "the body is no chat completion request")
		return
	}
	if len(req.Messages) == 0 {
		chatwire.WriteError(w, http.StatusBadRequest, "invalid_request_error", "messages must not be empty")
		return
	}
	a := answer(&req)
	pieces := a.pieces()
	usage := chatwire.NewUsage(promptTokens(&req), len(pieces))
	if req.Stream {
		m.stream(r.Context(), w, &req, a, pieces, usage)
		return
	}
	if m.pace(r.Context(), len(pieces)) {
		chatwire.WriteWhole(w, answerID, Name, chatwire.Delta{Content: a.text, ToolCalls: a.calls}, a.finish(), usage)
	}
}

func (m *model) stream(ctx context.Context, w http.ResponseWriter, req *chatwire.Request, a reply, pieces []chatwire.Delta, u *chatwire.Usage) {
	s := chatwire.NewStream(w, answerID, Name)
	for i, p := range pieces {
		if i == 0 {
			p.Role = "assistant"
		}
		if !m.pace(ctx, 1) || s.Piece(p) != nil {
			return
		}
	}
	if s.Finish(a.finish()) != nil || req.StreamOptions.IncludeUsage && s.Usage(u) != nil {
		return
	}
	_ = s.Done() // the client's loss
}

// pace waits as long as n pieces take; false says that the client left.
func (m *model) pace(ctx context.Context, n int) bool {
	return m.delay <= 0 || sleep.For(ctx, m.delay*time.Duration(n))
}

func (r reply) finish() string {
	if len(r.calls) > 0 {
		return "tool_calls"
	}
	return "stop"
}

// pieces are the answer as it is streamed: text word by word; a call's name, then its arguments in parts.
func (r reply) pieces() []chatwire.Delta {
	var out []chatwire.Delta
	for _, word := range strings.SplitAfter(r.text, " ") {
		if word != "" {
			out = append(out, chatwire.Delta{Content: word})
		}
	}
	for i, c := range r.calls {
		args := c.Function.Arguments
		c.Index, c.Function.Arguments = &i, ""
		out = append(out, chatwire.Delta{ToolCalls: []chatwire.ToolCall{c}})
		for args != "" {
			n := min(argsPiece, len(args))
			for n < len(args) && !utf8.RuneStart(args[n]) {
				n++
			}
			part := chatwire.ToolCall{Index: &i, Function: chatwire.CallText{Arguments: args[:n]}}
			out = append(out, chatwire.Delta{ToolCalls: []chatwire.ToolCall{part}})
			args = args[n:]
		}
	}
	return out
}

// promptTokens counts a quarter of the request's bytes.
func promptTokens(r *chatwire.Request) int {
	n := 0
	for _, m := range r.Messages {
		n += len(m.Role) + len(m.Content)
		for _, c := range m.ToolCalls {
			n += len(c.Function.Name) + len(c.Function.Arguments)
		}
	}
	for _, t := range r.Tools {
		n += len(t.Function.Name) + len(t.Function.Description) + len(t.Function.Parameters)
	}
	return (n + 3) / 4
}
