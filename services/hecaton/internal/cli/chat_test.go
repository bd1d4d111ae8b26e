package cli_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/cli"
)

// agentAPI answers the requests of a chat with what a test has laid out, in order. What differs is an error of the test.
type agentAPI struct {
	t      *testing.T
	server *httptest.Server

	mu    sync.Mutex
	steps []step
}

// step is one request that is expected, and its answer.
type step struct {
	method, path string
	// has are members that the body must have, as JSON.
	has map[string]string
	// after is the Last-Event-ID that must come.
	after string
	// events are sent as a stream; hold keeps it open until the channel is closed, cut ends it without more.
	events []string
	hold   chan struct{}
	// status and answer are sent where there are no events; 0 means 200.
	status int
	answer string
}

func newAgentAPI(t *testing.T, steps ...step) *agentAPI {
	t.Helper()
	a := &agentAPI{t: t, steps: steps}
	a.server = httptest.NewServer(a)
	t.Cleanup(func() {
		a.server.Close()
		a.mu.Lock()
		defer a.mu.Unlock()
		for _, s := range a.steps {
			t.Errorf("nobody asked %s %s", s.method, s.path)
		}
	})
	return a
}

func (a *agentAPI) next() (s step, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.steps) == 0 {
		return step{}, false
	}
	s, a.steps = a.steps[0], a.steps[1:]
	return s, true
}

// ServeHTTP implements http.Handler.
func (a *agentAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	s, ok := a.next()
	if !ok || r.Method != s.method || r.URL.Path != s.path || r.URL.Query().Get("user_id") != "ana" {
		a.t.Errorf("%s %s %s, want %s %s", r.Method, r.URL, raw, s.method, s.path)
		w.WriteHeader(http.StatusTeapot)
		return
	}
	var body map[string]json.RawMessage
	if len(s.has) > 0 {
		if err := json.Unmarshal(raw, &body); err != nil {
			a.t.Errorf("%s %s: %v in %s", s.method, s.path, err, raw)
		}
	}
	for member, want := range s.has {
		if got := string(body[member]); got != want {
			a.t.Errorf("%s %s has %s %s, want %s", s.method, s.path, member, got, want)
		}
	}
	if got := r.Header.Get("Last-Event-ID"); got != s.after {
		a.t.Errorf("%s %s comes after %q, want %q", s.method, s.path, got, s.after)
	}
	if s.events == nil {
		if s.status != 0 {
			w.WriteHeader(s.status)
		}
		_, _ = io.WriteString(w, s.answer)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, "retry: 2000\n\n: ping\n\n")
	for _, e := range s.events {
		_, _ = fmt.Fprintf(w, "data: %s\n\n", e)
	}
	w.(http.Flusher).Flush()
	if s.hold != nil {
		<-s.hold
	}
}

const (
	invokePath = "/api/agent/invoke"
	resumePath = "/api/agent/resume"
)

func said(seq int, text string) string {
	raw, _ := json.Marshal(text)
	return fmt.Sprintf(`{"type":"text","seq":%d,"session_id":"s1","content":%s,"message_id":"m%d"}`, seq, raw, seq/10)
}

func ended(seq int, reason string) string {
	return fmt.Sprintf(`{"type":"complete","seq":%d,"session_id":"s1","finish_reason":%q}`, seq, reason)
}

func waits(seq int, calls string) string {
	return fmt.Sprintf(`{"type":"interrupt","seq":%d,"session_id":"s1","interrupt_id":"i1","reason":"approval","tool_calls":[%s]}`, seq, calls)
}

const clicks = `{"tool_call_id":"c1","tool_name":"click","tool_args":{"selector":"#pay"},"node_id":"tab","digest":"d1","why":"it is new","allow":{"layer":"connector","source":"tab","tool":"click","fingerprint":"f"}}`

// talk runs a chat with this input, and returns its output.
func talk(t *testing.T, a *agentAPI, stdin string, flags ...string) (code int, out, err string) {
	t.Helper()
	p := startEnv(t, cli.Env{Stdin: strings.NewReader(stdin), Args: append([]string{"chat", "--server", a.server.URL, "--user", "ana", "--session", "s1"}, flags...)})
	code = p.wait()
	return code, p.out.String(), p.err.String()
}

// idle is the look at a session that does nothing.
var idle = step{method: "GET", path: "/api/agent/sessions/s1", answer: `{"session_id":"s1","status":"idle","last_seq":0}`}

func TestChatShows(t *testing.T) {
	t.Parallel()
	a := newAgentAPI(t, idle, step{
		method: "POST", path: invokePath, has: map[string]string{"message": `"pay"`, "session_id": `"s1"`, "mode": `"plan"`, "preferred_node_id": `"tab"`},
		events: []string{
			said(1, "Let me "), said(2, "look.\x1b[2J"),
			`{"type":"tool_call_chunk","seq":3,"tool_call_id":"c1","tool_name":"look","args":"{"}`,
			`{"type":"tool_call","seq":4,"tool_call_id":"c1","tool_name":"look","tool_args":{"at": "\u001b]0;x\u0007"}}`,
			`{"type":"tool_call_result","seq":5,"tool_call_id":"c1","tool_name":"look","result":"one\ntwo\u001b[31m","content":[{"type":"image","mimeType":"image/png","size":7,"file_path":"sandbox-output/r/c1-1.png"}]}`,
			`{"type":"tool_call_result","seq":6,"tool_call_id":"c2","tool_name":"run","result":"gone","is_error":true,"outcome":"unknown","file_path":"sandbox-output/r/c2.txt"}`,
			`{"type":"token_usage","seq":7,"prompt_tokens":1,"completion_tokens":1}`,
			`{"type":"newer","seq":8}`,
			said(20, "Do"), `{"type":"text","seq":30,"session_id":"s1","content":"Done.","message_id":"m9","replaces":"m2"}`, ended(31, "stop"),
		},
	})
	code, out, _ := talk(t, a, "", "-m", "pay", "--mode", "plan", "--node", "tab")
	want := `Let me look.\x1b[2J
→ look {"at":"\u001b]0;x\u0007"}
← look
  | one
  | two\x1b[31m
  + image/png, 7 bytes: sandbox-output/r/c1-1.png
← unknown run
  | gone
  + all of it: sandbox-output/r/c2.txt
Do
! this answer was cut off; it begins again:
Done.
`
	if code != 0 || out != want {
		t.Errorf("%d\n%s\nwant\n%s", code, out, want)
	}
}

// A tool that prints an escape sequence, or whatever else a terminal obeys, is shown and not obeyed.
func TestChatHarmless(t *testing.T) {
	t.Parallel()
	evil := "a\x00b\x07c\x08d\x1be\u009bf\u202eg\u2066h\u200bi\rj\x7fk\u2028l"
	raw, _ := json.Marshal(evil)
	args := `{"tool_call_id":"c1","tool_name":` + string(raw) + `,"node_id":` + string(raw) + `,"tool_args":{"x":` + string(raw) + `},"digest":"d"}`
	a := newAgentAPI(t, idle, step{method: "POST", path: invokePath, events: []string{
		said(1, evil), `{"type":"tool_call","seq":2,"tool_name":` + string(raw) + `,"tool_args":` + string(raw) + `}`,
		`{"type":"tool_call_result","seq":3,"tool_name":` + string(raw) + `,"result":` + string(raw) + `,"outcome":` + string(raw) + `}`,
		`{"type":"error","seq":4,"error":` + string(raw) + `}`, waits(5, args), ended(6, "interrupt"),
	}})
	code, out, _ := talk(t, a, "", "-m", "x")
	if code != 5 {
		t.Errorf("it ends with %d", code)
	}
	if strings.ContainsAny(out, "\x00\x07\x08\x1b\u009b\u202e\u2066\u200b\r\x7f\u2028") {
		t.Errorf("%q", out)
	}
	if !strings.Contains(out, `a\x00b\x07c\x08d\x1be\x9bf\u202eg\u2066h\u200bi\x0dj\x7fk\u2028l`) {
		t.Errorf("%s", out)
	}
}

func TestChatApprovals(t *testing.T) {
	t.Parallel()
	asks := step{method: "POST", path: invokePath, events: []string{waits(1, clicks), ended(2, "interrupt")}}
	decided := func(results string) step {
		return step{
			method: "POST", path: resumePath, has: map[string]string{"session_id": `"s1"`, "tool_call_results": "[" + results + "]"},
			events: []string{said(3, "ok"), ended(4, "stop")},
		}
	}
	settings := []step{
		{method: "GET", path: "/api/agent/approval-settings", answer: `{"mode":"use_allowlist","allowlist":["look"],"allowed":[{"layer":"oauth"}]}`},
		{method: "PUT", path: "/api/agent/approval-settings", has: map[string]string{"mode": `"use_allowlist"`, "allowlist": `["look"]`, "allowed": `[{"layer":"oauth"},{"layer":"connector","source":"tab","tool":"click","fingerprint":"f"}]`}, answer: `{}`},
	}
	approved := `{"tool_call_id":"c1","tool_name":"click","decision":"approved","digest":"d1"}`
	modified := `{"tool_call_id":"c1","tool_name":"click","decision":"modified","tool_args":{"selector":"#no"},"digest":"d1"}`
	for name, tt := range map[string]struct {
		stdin string
		flags []string
		steps []step
		says  string
	}{
		"yes":           {"y\n", nil, []step{decided(approved)}, "? click wants to run on tab, with\n  | {\n  |   \"selector\": \"#pay\"\n  | }\n  it asks because it is new\n"},
		"no":            {"n too dear\n", nil, []step{decided(`{"tool_call_id":"c1","tool_name":"click","decision":"rejected","reason":"too dear","digest":"d1"}`)}, "[n]o"},
		"no reason":     {"no\n", nil, []step{decided(`{"tool_call_id":"c1","tool_name":"click","decision":"rejected","digest":"d1"}`)}, ""},
		"edit":          {"e\n{\"selector\":\"#no\"}\n", nil, []step{decided(modified)}, "as JSON"},
		"edit at once":  {"edit {\"selector\":\"#no\"}\n", nil, []step{decided(modified)}, ""},
		"bad edit":      {"e [1]\ne\n\nwhat\ny\n", nil, []step{decided(approved)}, "no JSON object"},
		"always":        {"a\n", nil, append(settings, decided(approved)), "on your allow-list, as it is now on tab"},
		"approve all":   {"", []string{"--approve", "all"}, []step{decided(approved)}, "approved (--approve all)"},
		"approve none":  {"", []string{"--approve", "none"}, []step{decided(`{"tool_call_id":"c1","tool_name":"click","decision":"rejected","reason":"nobody is there to approve it","digest":"d1"}`)}, "rejected"},
		"always, alone": {"a\n", nil, []step{{method: "GET", path: "/api/agent/approval-settings", answer: `{"mode":"run_everything","allowlist":[]}`}, {method: "PUT", path: "/api/agent/approval-settings", answer: `{}`}, decided(approved)}, "yours is run_everything"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAgentAPI(t, append([]step{idle, asks}, tt.steps...)...)
			code, out, err := talk(t, a, tt.stdin, append(tt.flags, "-m", "pay")...)
			if code != 0 || !strings.Contains(out, tt.says) || !strings.HasSuffix(out, "ok\n") {
				t.Errorf("%d %s%s", code, out, err)
			}
		})
	}
	t.Run("several", func(t *testing.T) {
		t.Parallel()
		second := strings.ReplaceAll(clicks, "c1", "c2")
		a := newAgentAPI(t, idle,
			step{method: "POST", path: invokePath, events: []string{waits(1, clicks+","+second), ended(2, "interrupt")}},
			decided(approved+`,{"tool_call_id":"c2","tool_name":"click","decision":"rejected","reason":"x","digest":"d1"}`))
		if code, out, err := talk(t, a, "y\nn x\n", "-m", "pay"); code != 0 {
			t.Errorf("%d %s%s", code, out, err)
		}
	})
	t.Run("nobody", func(t *testing.T) {
		t.Parallel()
		code, out, err := talk(t, newAgentAPI(t, idle, asks), "what?\n", "-m", "pay")
		if code != 5 || !strings.Contains(out, "the run waits") || !strings.Contains(err, "--session s1") {
			t.Errorf("%d %s%s", code, out, err)
		}
	})
	t.Run("refused", func(t *testing.T) {
		t.Parallel()
		a := newAgentAPI(t, idle, asks, step{method: "POST", path: resumePath, status: 409, answer: `{"reason":"ALREADY_DECIDED","detail":"decided before"}`})
		if code, out, err := talk(t, a, "y\n", "-m", "pay"); code != 1 || !strings.Contains(err, "decided before (409") {
			t.Errorf("%d %s%s", code, out, err)
		}
	})
}

func TestChatChoosesNodes(t *testing.T) {
	t.Parallel()
	for stdin, node := range map[string]string{"0\nx\n2\n": `"laptop"`, "desk\n": `"desk"`} {
		a := newAgentAPI(t, idle,
			step{method: "POST", path: invokePath, events: []string{
				`{"type":"interrupt","seq":1,"session_id":"s1","reason":"node_selection","tool_calls":[{"tool_call_id":"c1","tool_name":"x"}],"available_nodes":[{"node_id":"desk","node_type":"desktop","node_name":"Desk","status":"online"},{"node_id":"laptop"}]}`,
				ended(2, "interrupt"),
			}},
			step{method: "POST", path: resumePath, has: map[string]string{"node_id": node, "tool_call_results": "[]"}, events: []string{ended(3, "stop")}})
		code, out, err := talk(t, a, stdin, "-m", "x")
		if code != 0 || !strings.Contains(out, "1  desk (desktop Desk, online)") {
			t.Errorf("%d %s%s", code, out, err)
		}
	}
}

// A stream that breaks off is picked up after the last event, and nothing is shown twice.
func TestChatReconnects(t *testing.T) {
	t.Parallel()
	events := "/api/agent/sessions/s1/events"
	a := newAgentAPI(t, idle,
		step{method: "POST", path: invokePath, events: []string{said(1, "one ")}},
		step{method: "GET", path: events, after: "1", status: 503, answer: `{"reason":"AGENT_UNAVAILABLE"}`},
		step{method: "GET", path: events, after: "1", events: []string{said(1, "one "), said(2, "two")}},
		step{method: "GET", path: events, after: "2", events: []string{ended(3, "stop")}},
	)
	code, out, err := talk(t, a, "", "-m", "x")
	if code != 0 || out != "one \n! the connection is lost\n! reconnected\ntwo\n! the connection is lost\n! reconnected\n" {
		t.Errorf("%d %s%s", code, out, err)
	}
	t.Run("before the first event", func(t *testing.T) {
		t.Parallel()
		again := step{method: "POST", path: invokePath, events: []string{}}
		whole := step{method: "POST", path: invokePath, events: []string{said(1, "ok"), ended(2, "stop")}}
		if code, out, err := talk(t, newAgentAPI(t, idle, again, whole), "", "-m", "x"); code != 0 || !strings.HasSuffix(out, "ok\n") {
			t.Errorf("%d %s%s", code, out, err)
		}
	})
	t.Run("after a decision", func(t *testing.T) {
		t.Parallel()
		a := newAgentAPI(t, idle,
			step{method: "POST", path: invokePath, events: []string{waits(1, clicks), ended(2, "interrupt")}},
			step{method: "POST", path: resumePath, events: []string{}},
			step{method: "POST", path: resumePath, status: 409, answer: `{"reason":"ALREADY_DECIDED"}`},
			step{method: "GET", path: events, after: "2", events: []string{said(3, "ok"), ended(4, "stop")}},
		)
		if code, out, err := talk(t, a, "y\n", "-m", "x"); code != 0 || !strings.HasSuffix(out, "ok\n") {
			t.Errorf("%d %s%s", code, out, err)
		}
	})
	t.Run("another gateway", func(t *testing.T) {
		t.Parallel()
		a := newAgentAPI(t, step{method: "GET", path: "/api/agent/sessions/s2", status: 404, answer: `{"reason":"SESSION_NOT_FOUND"}`},
			step{method: "POST", path: invokePath, events: []string{said(1, "ok"), ended(2, "stop")}})
		code, out, err := do(t, "chat", "--server", "http://127.0.0.1:1,"+a.server.URL, "--user", "ana", "--session", "s2", "-m", "x")
		if code != 0 || out != "ok\n" {
			t.Errorf("%d %s%s", code, out, err)
		}
	})
}

func TestChatLines(t *testing.T) {
	t.Parallel()
	run := func(message string, events ...string) step {
		return step{method: "POST", path: invokePath, has: map[string]string{"message": `"` + message + `"`}, events: events}
	}
	a := newAgentAPI(t, idle, run("one", waits(1, clicks), ended(2, "interrupt")),
		step{method: "POST", path: resumePath, events: []string{said(3, "first"), ended(4, "stop")}},
		run("two", said(5, "second"), ended(6, "max_steps")))
	code, out, err := talk(t, a, "one\ny\n\ntwo\n")
	if code != 1 || !strings.Contains(out, "first\nsecond\n! the run has taken all the steps") || !strings.Contains(err, "max_steps") {
		t.Errorf("%d %s%s", code, out, err)
	}
}

// Going on with a session means going on with what it does.
func TestChatAttaches(t *testing.T) {
	t.Parallel()
	waiting := newAgentAPI(t,
		step{method: "GET", path: "/api/agent/sessions/s1", answer: `{"session_id":"s1","status":"interrupted","last_seq":7,"interrupt":{"reason":"approval","tool_calls":[` + clicks + `]}}`},
		step{method: "POST", path: resumePath, events: []string{said(8, "ok"), ended(9, "stop")}})
	if code, out, err := talk(t, waiting, "y\n"); code != 0 || !strings.Contains(out, "? click wants") {
		t.Errorf("%d %s%s", code, out, err)
	}
	running := newAgentAPI(t,
		step{method: "GET", path: "/api/agent/sessions/s1", answer: `{"session_id":"s1","status":"running","last_seq":7}`},
		step{method: "GET", path: "/api/agent/sessions/s1/events", after: "7", events: []string{said(8, "ok"), ended(9, "error")}})
	if code, out, err := talk(t, running, ""); code != 1 || !strings.Contains(out, "ok\n") {
		t.Errorf("%d %s%s", code, out, err)
	}
}

func TestChatEnds(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]int{"stop": 0, "cancelled": 1, "error": 1, "max_steps": 1} {
		a := newAgentAPI(t, idle, step{method: "POST", path: invokePath, events: []string{ended(1, reason)}})
		if code, _, err := talk(t, a, "", "-m", "x"); code != want {
			t.Errorf("%s: %d %s", reason, code, err)
		}
	}
	for status, want := range map[int]int{400: 2, 401: 1, 409: 1, 503: 1} {
		a := newAgentAPI(t, idle, step{method: "POST", path: invokePath, status: status, answer: `{"detail":"no \u001b"}`})
		if code, _, err := talk(t, a, "", "-m", "x"); code != want || !strings.Contains(err, `no \x1b (`) {
			t.Errorf("%d: %d %s", status, code, err)
		}
	}
	for line, want := range map[string]int{
		"chat --user ana --server localhost -m x": 2, "chat --user ana --mode x": 2, "chat --user ana --approve maybe": 2,
		"chat --user ana --server http://127.0.0.1:1 -m x": 3,
	} {
		if code, _, err := do(t, strings.Fields(line)...); code != want {
			t.Errorf("%s: %d %s", line, code, err)
		}
	}
}

// Ctrl-C cancels the run, and a second one leaves.
func TestChatInterrupts(t *testing.T) {
	t.Parallel()
	cancel := step{method: "POST", path: "/api/agent/sessions/s1/cancel", answer: `{"success":true,"cancelled":true}`}
	t.Run("cancels", func(t *testing.T) {
		t.Parallel()
		hold := make(chan struct{})
		a := newAgentAPI(t, idle, step{method: "POST", path: invokePath, events: []string{said(1, "working")}, hold: hold}, cancel,
			step{method: "GET", path: "/api/agent/sessions/s1/events", after: "1", events: []string{ended(2, "cancelled")}})
		p := chatting(t, a, "-m", "x")
		p.says("working")
		p.press()
		p.says("cancelling")
		testkit.Eventually(t, 10*time.Second, func() bool { a.mu.Lock(); defer a.mu.Unlock(); return len(a.steps) == 1 }, "the run is cancelled")
		close(hold)
		if code := p.wait(); code != 1 || !p.has("the run was cancelled") {
			t.Errorf("%d %s%s", code, &p.out, &p.err)
		}
	})
	t.Run("leaves", func(t *testing.T) {
		t.Parallel()
		hold := make(chan struct{})
		defer close(hold)
		a := newAgentAPI(t, idle, step{method: "POST", path: invokePath, events: []string{said(1, "working")}, hold: hold}, cancel)
		p := chatting(t, a, "-m", "x")
		p.says("working")
		p.press()
		p.says("Ctrl-C again leaves")
		testkit.Eventually(t, 10*time.Second, func() bool { a.mu.Lock(); defer a.mu.Unlock(); return len(a.steps) == 0 }, "the run is cancelled")
		p.press()
		if code := p.wait(); code != 1 || !strings.Contains(p.err.String(), "--session s1") {
			t.Errorf("%d %s%s", code, &p.out, &p.err)
		}
	})
	t.Run("a question", func(t *testing.T) {
		t.Parallel()
		a := newAgentAPI(t, idle, step{method: "POST", path: invokePath, events: []string{waits(1, clicks), ended(2, "interrupt")}}, cancel)
		p := chatting(t, a, "-m", "x")
		p.says("[y]es")
		p.press()
		if code := p.wait(); code != 1 || !p.has("the run was cancelled") {
			t.Errorf("%d %s%s", code, &p.out, &p.err)
		}
	})
	t.Run("the prompt", func(t *testing.T) {
		t.Parallel()
		p := chatting(t, newAgentAPI(t, idle))
		p.says("> ")
		p.press()
		if code := p.wait(); code != 0 {
			t.Errorf("%d %s%s", code, &p.out, &p.err)
		}
	})
}

// chatting starts a chat at a terminal at which nobody types.
func chatting(t *testing.T, a *agentAPI, flags ...string) *program {
	t.Helper()
	in, out := io.Pipe()
	t.Cleanup(func() { _ = out.Close() })
	return startEnv(t, cli.Env{
		Stdin: in, Interactive: true, Args: append([]string{"chat", "--server", a.server.URL, "--user", "ana", "--session", "s1"}, flags...),
	})
}
