package modeltest

import (
	"context"
	"maps"
	"net/http"
	"strings"

	"github.com/hecaton-dev/hecaton/pkg/model/internal/chatwire"
)

// play gives one answer.
func (s *Server) play(ctx context.Context, w http.ResponseWriter, id string, r Request, a Answer) {
	switch {
	case a.silent:
		s.hold(ctx, nil)
		abort()
	case a.status > 0:
		maps.Copy(w.Header(), a.header)
		w.Header().Set("Content-Type", a.contentType)
		w.WriteHeader(a.status)
		_, _ = w.Write(a.body)
	case !r.stream:
		s.playWhole(ctx, w, id, r, a)
	default:
		s.playStream(ctx, w, id, r, a)
	}
}

func (s *Server) playStream(ctx context.Context, w http.ResponseWriter, id string, r Request, a Answer) {
	stream := chatwire.NewStream(w, id, r.Model)
	for _, p := range a.pieces {
		if p.wait != nil && !s.hold(ctx, p.wait) {
			abort()
		}
		var err error
		switch {
		case p.raw != nil:
			err = stream.Raw(p.raw)
		case p.wait == nil:
			err = stream.Piece(p.delta)
		}
		if err != nil {
			return
		}
	}
	switch a.end {
	case cut:
		abort()
	case stalled:
		s.hold(ctx, nil)
		abort()
	}
	if a.finish != "" && stream.Finish(a.finish) != nil {
		return
	}
	if a.usage != nil && r.usage && stream.Usage(a.usage) != nil {
		return
	}
	if !a.noDone {
		_ = stream.Done() // the client's loss
	}
}

// playWhole gives an answer to a client that wants no stream.
func (s *Server) playWhole(ctx context.Context, w http.ResponseWriter, id string, r Request, a Answer) {
	var text strings.Builder
	calls := map[int]*chatwire.ToolCall{}
	for _, p := range a.pieces {
		if p.wait != nil && !s.hold(ctx, p.wait) {
			abort()
		}
		text.WriteString(p.delta.Content)
		for _, c := range p.delta.ToolCalls {
			if calls[*c.Index] == nil {
				calls[*c.Index] = &chatwire.ToolCall{ID: c.ID, Type: "function"}
			}
			calls[*c.Index].Function.Name += c.Function.Name
			calls[*c.Index].Function.Arguments += c.Function.Arguments
		}
	}
	if a.end == stalled {
		s.hold(ctx, nil)
	}
	if a.end != whole {
		abort()
	}
	message := chatwire.Delta{Content: text.String()}
	for i := range len(calls) {
		message.ToolCalls = append(message.ToolCalls, *calls[i])
	}
	chatwire.WriteWhole(w, id, r.Model, message, a.finish, a.usage)
}

// hold waits for the gate; false says that the client or the test ended first. A nil gate never opens.
func (s *Server) hold(ctx context.Context, gate <-chan struct{}) bool {
	select {
	case <-gate:
		return true
	case <-ctx.Done():
	case <-s.closed:
	}
	return false
}

// abort closes the connection in the middle of the response, as a server does that dies.
func abort() { panic(http.ErrAbortHandler) }
