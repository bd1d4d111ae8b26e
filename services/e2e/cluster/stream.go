package cluster

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Event is one event of a run, as a client hears it.
type Event struct {
	Type      string `json:"type"`
	Seq       int64  `json:"seq"`
	SessionID string `json:"session_id"`
	RunID     string `json:"run_id"`
	// Content of a text or a complete, Result and Outcome of a tool_call_result.
	Content, Result, Outcome, Reason string
	MessageID                        string `json:"message_id"`
	Replaces                         string
	FinishReason                     string `json:"finish_reason"`
	ErrorCode                        string `json:"error_code"`
	ToolCallID                       string `json:"tool_call_id"`
	ToolName                         string `json:"tool_name"`
	// Parent is the call whose sub-agent did this; "" where the user's agent did.
	Parent string `json:"parent_tool_call_id"`
	// ToolCalls are what an interrupt waits for.
	ToolCalls []PendingCall `json:"tool_calls"`
	// Data is the whole event, JSON.
	Data string `json:"-"`
}

// PendingCall is a call that a person has to decide about.
type PendingCall struct {
	ID     string          `json:"tool_call_id"`
	Name   string          `json:"tool_name"`
	Args   json.RawMessage `json:"tool_args"`
	NodeID string          `json:"node_id"`
	Parent string          `json:"parent_tool_call_id"`
	Digest string          `json:"digest"`
	Why    string          `json:"why"`
	// Allow is the entry of an allow-list that would let it run.
	Allow json.RawMessage `json:"allow"`
}

// Stream is a stream of events that a client reads. Anything but well-formed events, their numbers and comments in it fails
// the test. Its methods belong to the test's goroutine; what a stream says besides events is in Raw.
type Stream struct {
	// Header of the response.
	Header http.Header
	// Session and Run of the last event that was returned, and its number.
	Session, Run string
	Seq          int64
	// Heard are the events that were returned.
	Heard []Event

	t      testing.TB
	leave  context.CancelFunc
	events chan Event    // closed when the stream has ended
	ended  chan struct{} // closed after events

	mu  sync.Mutex
	raw strings.Builder
	err error
}

// streamClient has no time limit: a test's context ends its streams.
var streamClient = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// RunEverything sets the user's approval mode so that only tools ask that a request or a tool marks, for tests that are
// about other things.
func (g *Gateway) RunEverything(t testing.TB, user string) {
	t.Helper()
	g.Settle(t, user, `{"mode":"run_everything"}`)
}

// Settle replaces a user's approval settings.
func (g *Gateway) Settle(t testing.TB, user, settings string) {
	t.Helper()
	if r := g.Do(t, http.MethodPut, "/api/agent/approval-settings", user, settings, nil); r.Status != http.StatusOK {
		t.Fatalf("approval settings: %d %s", r.Status, r.Raw)
	}
}

// Invoke starts a run as a user of trusted mode, and streams it. The body is JSON, or a value that is marshalled.
func (g *Gateway) Invoke(t testing.TB, user string, body any) *Stream {
	t.Helper()
	return g.Stream(t, http.MethodPost, "/api/agent/invoke", body, http.Header{"X-User-Id": {user}})
}

// Resume hands in decisions, and streams what follows.
func (g *Gateway) Resume(t testing.TB, user string, body any) *Stream {
	t.Helper()
	return g.Stream(t, http.MethodPost, "/api/agent/resume", body, http.Header{"X-User-Id": {user}})
}

// Events follows a session from the event after this number.
func (g *Gateway) Events(t testing.TB, user, session string, after int64) *Stream {
	t.Helper()
	path := "/api/agent/sessions/" + session + "/events?after_seq=" + strconv.FormatInt(after, 10)
	return g.Stream(t, http.MethodGet, path, nil, http.Header{"X-User-Id": {user}})
}

// Stream sends a request whose answer must be a stream of events. Refusals are [Gateway.Do]'s to ask for.
func (g *Gateway) Stream(t testing.TB, method, path string, body any, header http.Header) *Stream {
	t.Helper()
	text, ok := body.(string)
	if !ok && body != nil {
		raw, err := json.Marshal(body)
		must(t, err)
		text = string(raw)
	}
	ctx, leave := context.WithCancel(context.WithoutCancel(t.Context()))
	req, err := http.NewRequestWithContext(ctx, method, "http://"+g.HTTP+path, strings.NewReader(text))
	must(t, err)
	if text != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for name, values := range header {
		req.Header[name] = values
	}
	resp, err := streamClient.Do(req)
	if err != nil {
		leave()
		t.Fatalf("%s %s: %v", method, path, err)
	}
	s := &Stream{Header: resp.Header, t: t, leave: leave, events: make(chan Event, 10000), ended: make(chan struct{})}
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" {
		raw, _ := io.ReadAll(resp.Body)
		leave()
		_ = resp.Body.Close()
		t.Fatalf("%s %s is answered with %s: %.500s", method, path, resp.Status, raw)
	}
	go s.read(resp.Body)
	t.Cleanup(s.Leave)
	return s
}

// Leave ends the connection, as a client that goes away does.
func (s *Stream) Leave() {
	s.leave()
	<-s.ended
}

// read takes the stream apart: events, comments and retry, each with the empty line that ends it, and nothing else.
func (s *Stream) read(body io.ReadCloser) {
	defer close(s.ended)
	defer close(s.events)
	defer body.Close()
	in := bufio.NewReaderSize(body, 64<<10)
	var block strings.Builder
	for {
		line, err := in.ReadString('\n')
		s.mu.Lock()
		s.raw.WriteString(line)
		s.err = err
		s.mu.Unlock()
		if err != nil {
			return
		}
		block.WriteString(line)
		if line != "\n" {
			continue
		}
		if e, ok := s.parse(block.String()); ok {
			s.events <- e
		}
		block.Reset()
	}
}

func (s *Stream) parse(block string) (e Event, ok bool) {
	if strings.HasPrefix(block, ":") || block == "retry: 2000\n\n" {
		return e, false
	}
	if _, rest, _ := strings.Cut(block, "\n"); strings.HasPrefix(rest, ": the token has expired") {
		return e, false // the last id once more
	}
	id, data, _ := strings.Cut(strings.TrimSuffix(block, "\n\n"), "\n")
	id, named := strings.CutPrefix(id, "id: ")
	data, ok = strings.CutPrefix(data, "data: ")
	if !named || !ok || strings.Contains(data, "\n") {
		s.t.Errorf("no event: %.300q", block)
		return e, false
	}
	var whole struct {
		Event
		Content json.RawMessage `json:"content"` // a list where it is a result's
	}
	err := json.Unmarshal([]byte(data), &whole)
	e = whole.Event
	_ = json.Unmarshal(whole.Content, &e.Content)
	if err != nil || strconv.FormatInt(e.Seq, 10) != id {
		s.t.Errorf("event %s is %.300s: %v", id, data, err)
	}
	e.Data = data
	return e, true
}

// next returns the next event; false at the stream's end.
func (s *Stream) next() (Event, bool) {
	s.t.Helper()
	select {
	case e, ok := <-s.events:
		if !ok {
			return e, false
		}
		if s.Seq > 0 && e.Seq != s.Seq+1 {
			s.t.Errorf("event %d comes after %d", e.Seq, s.Seq)
		}
		s.Session, s.Run, s.Seq = e.SessionID, e.RunID, e.Seq
		s.Heard = append(s.Heard, e)
		return e, true
	case <-time.After(patience):
		s.t.Fatalf("no event came; so far:\n%s", s.Raw())
	}
	return Event{}, false
}

// Next returns the next event.
func (s *Stream) Next() Event {
	s.t.Helper()
	e, ok := s.next()
	if !ok {
		s.t.Fatalf("the stream ended (%v) instead of an event; it said:\n%s", s.Err(), s.Raw())
	}
	return e
}

// Expect fails unless the next events are of these types, and returns the last one.
func (s *Stream) Expect(types ...string) (e Event) {
	s.t.Helper()
	for _, want := range types {
		if e = s.Next(); e.Type != want {
			s.t.Fatalf("got %s, want %s", e.Data, want)
		}
	}
	return e
}

// Until returns the next event of a type, past others.
func (s *Stream) Until(kind string) Event {
	s.t.Helper()
	for {
		if e := s.Next(); e.Type == kind {
			return e
		}
	}
}

// All reads to the stream's end and returns every event that the stream had, those that were returned before included.
func (s *Stream) All() []Event {
	s.t.Helper()
	for {
		if _, ok := s.next(); !ok {
			return s.Heard
		}
	}
}

// Complete reads to the stream's end, which must be that of a run for this reason, and returns its last event.
func (s *Stream) Complete(finishReason string) Event {
	s.t.Helper()
	all := s.All()
	if len(all) == 0 || all[len(all)-1].Type != "complete" || all[len(all)-1].FinishReason != finishReason {
		s.t.Fatalf("the stream does not end with complete, %s:\n%s", finishReason, s.Raw())
	}
	return all[len(all)-1]
}

// Err is what ended the stream; nil while it goes on, and where the server has ended it.
func (s *Stream) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if errors.Is(s.err, io.EOF) {
		return nil
	}
	return s.err
}

// Raw is all that came, byte by byte.
func (s *Stream) Raw() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.raw.String()
}

// Said is the answers' text, of the events given, without pieces that were replaced.
func Said(events []Event) string {
	replaced := map[string]bool{}
	for _, e := range events {
		replaced[e.Replaces] = e.Replaces != ""
	}
	var b strings.Builder
	for _, e := range events {
		if e.Type == "text" && !replaced[e.MessageID] {
			b.WriteString(e.Content)
		}
	}
	return b.String()
}
