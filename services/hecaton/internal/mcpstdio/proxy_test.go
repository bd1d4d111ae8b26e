package mcpstdio

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// client is the other end of a proxy.
type client struct {
	t    *testing.T
	to   *io.PipeWriter
	from *bufio.Scanner
	done chan error
}

func start(t *testing.T, url string) *client {
	t.Helper()
	in, to := io.Pipe()
	from, out := io.Pipe()
	c := &client{t: t, to: to, from: bufio.NewScanner(from), done: make(chan error, 1)}
	c.from.Buffer(nil, maxMessage)
	go func() {
		c.done <- Run(context.WithoutCancel(t.Context()), Options{
			URL: url, Token: func() (config.Secret, error) { return "the-token", nil }, In: in, Out: out, Logger: slog.New(slog.DiscardHandler),
		})
		_ = out.Close()
	}()
	t.Cleanup(func() {
		_ = to.Close()
		_ = from.Close()
		if err := <-c.done; err != nil {
			t.Error(err)
		}
	})
	return c
}

func (c *client) say(line string) {
	c.t.Helper()
	if _, err := io.WriteString(c.to, line+"\n"); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) next() (m map[string]any) {
	c.t.Helper()
	if !c.from.Scan() {
		c.t.Fatalf("no more lines: %v", c.from.Err())
	}
	if err := json.Unmarshal(c.from.Bytes(), &m); err != nil {
		c.t.Fatalf("%v: %s", err, c.from.Bytes())
	}
	return m
}

func (c *client) expect(id any) map[string]any {
	c.t.Helper()
	if m := c.next(); fmt.Sprint(m["id"]) != fmt.Sprint(id) {
		c.t.Fatalf("%v, want the answer to %v", m, id)
	} else {
		return m
	}
	return nil
}

func stateless(id int, method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`, id, method, params)
}

type post struct {
	header http.Header
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	raw    string
}

func readPost(r *http.Request) (p post) {
	raw, _ := io.ReadAll(r.Body)
	_ = json.Unmarshal(raw, &p)
	p.header, p.raw = r.Header, string(raw)
	return p
}

func answer(w http.ResponseWriter, id json.RawMessage, result string) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, "{\"jsonrpc\":\"2.0\",\n\"id\":%s,\"result\":%s}", id, result)
}

// Headers say what the stateless revisions want them to, encoded where they cannot hold it; bodies pass byte by byte.
func TestStatelessHeaders(t *testing.T) {
	t.Parallel()
	seen := make(chan post, 10)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := readPost(r)
		seen <- p
		answer(w, p.ID, "{}")
	}))
	t.Cleanup(s.Close)
	c := start(t, s.URL)
	for name, header := range map[string]string{
		"click": "click", "klick\u00e9": "=?base64?a2xpY2vDqQ==?=", " x": "=?base64?IHg=?=", "=?base64?eA==?=": "=?base64?PT9iYXNlNjQ/ZUE9PT89?=",
	} {
		raw, _ := json.Marshal(name)
		line := stateless(7, "tools/call", `"name":`+string(raw)+`, "arguments" : {"b":1.0,"a":[ ]},`)
		c.say(line)
		c.expect(7)
		p := <-seen
		if p.raw != line || p.header.Get("Mcp-Name") != header || p.header.Get("Mcp-Method") != "tools/call" ||
			p.header.Get("Mcp-Protocol-Version") != "2026-07-28" || p.header.Get("Authorization") != "Bearer the-token" || p.header.Get("Mcp-Session-Id") != "" {
			t.Errorf("%q: %v %s", name, p.header, p.raw)
		}
	}
}

// sessions is a server of the older revisions that can forget its sessions.
type sessions struct {
	mu    sync.Mutex
	known map[string]bool
	begun atomic.Int32
	calls atomic.Int32
	said  chan string // for the stream
}

func (s *sessions) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p := readPost(r)
	if p.Method == "initialize" {
		id := fmt.Sprint("session-", s.begun.Add(1))
		s.mu.Lock()
		s.known[id] = true
		s.mu.Unlock()
		w.Header().Set("Mcp-Session-Id", id)
		answer(w, p.ID, `{"protocolVersion":"2025-06-18"}`)
		return
	}
	s.mu.Lock()
	known := s.known[r.Header.Get("Mcp-Session-Id")]
	s.mu.Unlock()
	switch {
	case !known:
		http.Error(w, "no such session", http.StatusNotFound)
	case r.Header.Get("Mcp-Protocol-Version") != "2025-06-18":
		http.Error(w, "no version", http.StatusBadRequest)
	case r.Method == http.MethodGet:
		w.Header().Set("Content-Type", "text/event-stream")
		_ = http.NewResponseController(w).Flush()
		select {
		case text := <-s.said:
			_, _ = fmt.Fprintf(w, ": hello\n\ndata: %s\n\n", text)
		case <-r.Context().Done():
		}
	case p.ID == nil:
		w.WriteHeader(http.StatusAccepted)
	default:
		s.calls.Add(1)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{}}\n\n", p.ID)
	}
}

// The session is kept, its stream heard, and a session that the server forgot begun anew with the request sent once more.
func TestSessions(t *testing.T) {
	t.Parallel()
	h := &sessions{known: make(map[string]bool), said: make(chan string, 1)}
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	c := start(t, s.URL)
	c.say(`{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-06-18"}}`)
	c.expect("i")
	c.say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	h.said <- `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`
	if m := c.next(); m["method"] != "notifications/tools/list_changed" {
		t.Errorf("%v", m)
	}
	h.mu.Lock()
	clear(h.known)
	h.mu.Unlock()
	c.say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"x"}}`)
	if m := c.next(); m["method"] != "notifications/progress" {
		t.Errorf("%v", m)
	}
	c.expect(2)
	if h.begun.Load() != 2 || h.calls.Load() != 1 {
		t.Errorf("%d sessions, %d calls", h.begun.Load(), h.calls.Load())
	}
}

// A call whose answer is lost is not made again, and says that it may have run; what only reads is.
func TestLostAnswers(t *testing.T) {
	t.Parallel()
	var calls, lists atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := readPost(r)
		if p.Method == "tools/call" {
			calls.Add(1)
			panic(http.ErrAbortHandler)
		}
		if lists.Add(1) == 1 {
			panic(http.ErrAbortHandler)
		}
		answer(w, p.ID, "{}")
	}))
	t.Cleanup(s.Close)
	c := start(t, s.URL)
	c.say(stateless(1, "tools/call", `"name":"x",`))
	result, _ := c.expect(1)["result"].(map[string]any)
	meta, _ := result["_meta"].(map[string]any)
	if result["isError"] != true || result["resultType"] != "complete" || meta["dev.hecaton/outcome"] != "unknown" || !strings.Contains(fmt.Sprint(result["content"]), "may have been done") {
		t.Errorf("%v", result)
	}
	c.say(stateless(2, "tools/list", ""))
	if m := c.expect(2); m["result"] == nil {
		t.Errorf("%v", m)
	}
	if calls.Load() != 1 || lists.Load() != 2 {
		t.Errorf("%d calls, %d lists", calls.Load(), lists.Load())
	}
}

// A gateway that is not there yet is waited for; what it refuses while it drains is asked again.
func TestGatewayComesBack(t *testing.T) {
	t.Parallel()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := ln.Addr().String()
	_ = ln.Close()
	c := start(t, "http://"+addr)
	c.say(stateless(1, "tools/call", `"name":"x",`))
	if ln, err = net.Listen("tcp", addr); err != nil {
		t.Fatal(err)
	}
	var asked atomic.Int32
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p := readPost(r); asked.Add(1) > 1 {
			answer(w, p.ID, `{"content":[]}`)
			return
		}
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, `{"reason":"DRAINING","outcome":"not_delivered"}`)
	}))
	_ = s.Listener.Close()
	s.Listener = ln
	s.Start()
	t.Cleanup(s.Close)
	if m := c.expect(1); m["result"] == nil {
		t.Errorf("%v", m)
	}
}

// Who gives a stateless request up ends it at the server, and hears no more of it.
func TestCancel(t *testing.T) {
	t.Parallel()
	begun, ended := make(chan struct{}), make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := readPost(r)
		if p.Method == "tools/call" {
			close(begun)
			<-r.Context().Done()
			close(ended)
			return
		}
		answer(w, p.ID, "{}")
	}))
	t.Cleanup(s.Close)
	c := start(t, s.URL)
	c.say(stateless(1, "tools/call", `"name":"x",`))
	<-begun
	c.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Fatal("the request goes on")
	}
	c.say(stateless(2, "server/discover", ""))
	c.expect(2)
}

// The token is not shown to where a gateway sends its clients.
func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	var shown atomic.Int32
	thief := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { shown.Add(1) }))
	t.Cleanup(thief.Close)
	s := httptest.NewServer(http.RedirectHandler(thief.URL, http.StatusTemporaryRedirect))
	t.Cleanup(s.Close)
	c := start(t, s.URL)
	c.say(stateless(1, "tools/list", ""))
	if m := c.expect(1); m["error"] == nil || shown.Load() != 0 {
		t.Errorf("%v; the other server was asked %d times", m, shown.Load())
	}
}

func FuzzRead(f *testing.F) {
	f.Add(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`)
	f.Add(`[{}]`)
	f.Add(`{"method":"notifications/cancelled","params":{"requestId":"a"}}`)
	f.Fuzz(func(t *testing.T, line string) {
		m := read([]byte(line))
		_ = m.cancels()
		h := http.Header{}
		m.headers(h)
		for _, values := range h {
			if strings.ContainsAny(values[0], "\r\n\x00") && m.version == "" {
				t.Errorf("%q", values)
			}
		}
		if m.id != nil && !json.Valid(failure(m, "x", "y", "z")) {
			t.Errorf("no JSON for %q", line)
		}
	})
}
