package modeltest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/model/internal/chatwire"
)

// Server is the endpoint. It ends with its test.
type Server struct {
	t      testing.TB
	http   *httptest.Server
	closed chan struct{}

	mu        sync.Mutex
	rules     []*rule // the first that matches and has an answer left is taken
	otherwise *Answer
	requests  []Request
}

type rule struct {
	match func(Request) bool // nil for every request
	queue []Answer
}

// New starts a server.
func New(t testing.TB) *Server {
	t.Helper()
	s := &Server{t: t, closed: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", s.complete)
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		chatwire.WriteJSON(w, http.StatusOK, map[string]any{"object": "list", "data": []any{map[string]any{"id": Model, "object": "model"}}})
	})
	s.http = httptest.NewServer(mux)
	t.Cleanup(func() {
		close(s.closed)
		s.http.CloseClientConnections()
		s.http.Close()
	})
	return s
}

// Model is a name that requests may use; any other will do.
const Model = "scripted"

// URL is what clients take as their base URL: http://127.0.0.1:<port>/v1.
func (s *Server) URL() string { return s.http.URL + "/v1" }

// Script appends answers for requests that no [Server.When] takes.
func (s *Server) Script(answers ...Answer) { s.When(nil, answers...) }

// When appends answers for requests that match, as [Mentions] does. Rules are tried in the order of their first When; one
// with nothing left is passed over. A nil match takes every request, after all other rules.
func (s *Server) When(match func(Request) bool, answers ...Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rules = append(s.rules, &rule{match, slices.Clone(answers)})
}

// Otherwise is the answer to requests for which the script has none.
func (s *Server) Otherwise(a Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.otherwise = &a
}

// Requests are those that came so far, in their order.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

func (s *Server) complete(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client left
	}
	var wire chatwire.Request
	if err := json.Unmarshal(body, &wire); err != nil {
		s.t.Errorf("modeltest: a request that is no JSON: %v", err)
		chatwire.WriteError(w, http.StatusBadRequest, "invalid_request_error", "not JSON")
		return
	}
	req := newRequest(wire, r.Header, body)
	n, a, ok := s.next(req)
	if !ok {
		s.t.Errorf("modeltest: the script has no answer for request %d", n)
		chatwire.WriteError(w, http.StatusNotImplemented, "server_error", "the script has no answer")
		return
	}
	for a.compute != nil {
		a = a.compute(req)
	}
	s.play(r.Context(), w, fmt.Sprintf("chatcmpl-%d", n), req, a)
}

// next records the request and takes its answer from the script.
func (s *Server) next(r Request) (n int, a Answer, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
	n = len(s.requests)
	for _, all := range []bool{false, true} {
		for _, rule := range s.rules {
			if (rule.match == nil) != all || len(rule.queue) == 0 || !all && !rule.match(r) {
				continue
			}
			a, rule.queue = rule.queue[0], rule.queue[1:]
			return n, a, true
		}
	}
	if s.otherwise != nil {
		return n, *s.otherwise, true
	}
	return n, Answer{}, false
}
