package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/bench/plan"
)

func TestCauses(t *testing.T) {
	t.Parallel()
	closed := func(code websocket.StatusCode) error {
		return fmt.Errorf("read: %w", websocket.CloseError{Code: code})
	}
	for _, tt := range []struct {
		err             error
		name            string
		final, hopeless bool
	}{
		{closed(1012), "closed with 1012", false, false},
		{closed(4409), "closed with 4409", true, false},
		{closed(4009), "closed with 4009", true, true},
		{&httpError{503, "draining"}, "HTTP 503", false, false},
		{&httpError{401, "no"}, "HTTP 401", true, true},
		{errors.Join(errRefused, errors.New("why")), "registration refused", true, true},
		{fmt.Errorf("x: %w", &net.OpError{Op: "dial", Err: errors.New("refused")}), "connection refused", false, false},
		{context.DeadlineExceeded, "silence", false, false},
		{errors.New("EOF"), "connection lost", false, false},
	} {
		if c := causeOf(tt.err); c.name != tt.name || c.final != tt.final || c.hopeless != tt.hopeless {
			t.Errorf("%v is %+v", tt.err, c)
		}
	}
}

// notes are what nodes were given.
type notes struct {
	mu   sync.Mutex
	list []string
}

func (n *notes) Executed(node int, c Call) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.list = append(n.list, fmt.Sprintf("%d %s %s %s", node, c.ID, c.Tool, c.Arguments))
	return "answer to " + c.ID
}

// fleet starts nodes that connect to a gateway, which each connection is handed to, with its number.
func start(t *testing.T, nodes int, gateway func(t *testing.T, n int, c *websocket.Conn, r *http.Request)) (*Fleet, *notes, context.Context) {
	t.Helper()
	var mu sync.Mutex
	n := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := websocket.Accept(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = c.CloseNow() }()
		mu.Lock()
		mine := n
		n++
		mu.Unlock()
		gateway(t, mine, c, r)
	}))
	t.Cleanup(server.Close)
	book := &notes{}
	f := New(Options{
		Plan: plan.New(plan.Spec{Seed: 1, Users: 1, Nodes: nodes}), Servers: []string{server.URL}, Book: book, Tools: []string{"x"},
		Token: func(user string) (string, error) { return "token of " + user, nil },
	})
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	t.Cleanup(func() {
		cancel()
		f.Wait()
	})
	f.Start(ctx)
	return f, book, t.Context()
}

// registers reads what a node says of itself, and answers it.
func registers(t *testing.T, c *websocket.Conn, answer string) {
	_, raw, err := c.Read(t.Context())
	var hello struct {
		Type  string
		ID    string   `json:"node_id"`
		Tools []string `json:"available_tools"`
		Tasks int      `json:"max_concurrent_tasks"`
	}
	if err != nil || json.Unmarshal(raw, &hello) != nil || hello.Type != "register" || !strings.HasPrefix(hello.ID, "node-") || len(hello.Tools) != 1 || hello.Tasks != Places {
		t.Errorf("%v: %s", err, raw)
	}
	_ = c.Write(t.Context(), websocket.MessageText, []byte(answer))
}

// Stopping a bench does not wait for web clients that are still served.
func TestSlowClientsAreLeftWhenNobodyWaits(t *testing.T) {
	t.Parallel()
	there := make(chan struct{})
	f, _, ctx := start(t, 1, func(t *testing.T, _ int, c *websocket.Conn, r *http.Request) {
		if r.URL.Path == "/ws/web" {
			close(there)
		} else {
			registers(t, c, welcome)
		}
		for {
			if _, _, err := c.Read(t.Context()); err != nil {
				return
			}
		}
	})
	if err := f.Ready(ctx); err != nil {
		t.Fatal(err)
	}
	s := f.Slow(ctx, 1)
	<-there
	ended, end := context.WithCancel(ctx)
	end()
	stopped := make(chan SlowStats, 1)
	go func() { stopped <- s.Stop(ended) }()
	select {
	case stats := <-stopped:
		if stats.Cut != 0 || stats.Kept != 0 {
			t.Errorf("%+v", stats)
		}
	case <-time.After(readsWithin / 2):
		t.Error("it waits")
		<-stopped
	}
}

const welcome = `{"type":"registered","node_id":"n","success":true}`

// A node answers calls, pings and questions for workflows, also before its registration is answered.
func TestANodeAnswers(t *testing.T) {
	t.Parallel()
	heard := make(chan string, 10)
	f, book, ctx := start(t, 1, func(t *testing.T, _ int, c *websocket.Conn, r *http.Request) {
		if r.URL.Path != "/ws/extension" || r.URL.Query().Get("client_id") != "user_bench-1-0" || r.URL.Query().Get("node_id") != "node-0" || r.Header.Get("Authorization") != "Bearer token of bench-1-0" {
			t.Errorf("%s %v", r.URL, r.Header)
		}
		c.SetReadLimit(1 << 20)
		_ = c.Write(t.Context(), websocket.MessageText, []byte(`{"jsonrpc":"2.0","id":"early","method":"tools/call","params":{"name":"x","arguments":{"a":1}}}`))
		registers(t, c, welcome)
		for _, frame := range []string{
			`{"jsonrpc":"2.0","id":"late","method":"tools/call","params":{"name":"y","arguments":{"work_us":2000}}}`,
			`{"type":"ping"}`, `{"type":"get_workflows"}`, `{"type":"heartbeat_ack"}`, `no JSON`,
		} {
			_ = c.Write(t.Context(), websocket.MessageText, []byte(frame))
		}
		for range 4 {
			_, raw, err := c.Read(t.Context())
			if err != nil {
				t.Error(err)
				return
			}
			heard <- string(raw[:min(len(raw), 200)])
		}
		<-c.CloseRead(t.Context()).Done()
	})
	if err := f.Ready(ctx); err != nil {
		t.Fatal(err)
	}
	all := ""
	for range 4 {
		all += <-heard + "\n"
	}
	for _, want := range []string{
		`{"jsonrpc":"2.0","id":"early","result":{"content":[{"type":"text","text":"answer to early"}],"isError":false}}`,
		`{"jsonrpc":"2.0","id":"late","result":{"content":[{"type":"text","text":"answer to late"}],"isError":false}}`, `{"type":"pong"}`, `{"type":"workflows_list","success":true`,
	} {
		if !strings.Contains(all, want) {
			t.Errorf("it does not say %s: %s", want, all)
		}
	}
	if got := strings.Join(book.list, "\n"); got != "0 early x {\"a\":1}\n0 late y {\"work_us\":2000}" {
		t.Errorf("the book has %s", got)
	}
}

// Nodes come back whatever ends their connections, and what did is counted.
func TestNodesComeBack(t *testing.T) {
	t.Parallel()
	codes := []websocket.StatusCode{1012, 4409, 0}
	f, _, ctx := start(t, 1, func(t *testing.T, n int, c *websocket.Conn, _ *http.Request) {
		registers(t, c, welcome)
		switch {
		case n >= len(codes):
			<-c.CloseRead(t.Context()).Done()
		case codes[n] != 0:
			_ = c.Close(codes[n], "bye")
		}
	})
	var mu sync.Mutex
	back := 0
	f.Watch(func(time.Time) {
		mu.Lock()
		defer mu.Unlock()
		back++
	})
	if err := f.Ready(ctx); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, 30*time.Second, func() bool {
		mu.Lock()
		defer mu.Unlock()
		return back == len(codes)
	}, "the node is back for good")
	s := f.Stats()
	if s.Lost["closed with 1012"] != 1 || s.Lost["closed with 4409"] != 1 || s.Lost["connection lost"] != 1 || s.SentAway != 1 || s.Reconnected != 3 || s.FewestUp != 0 || s.Up != 1 || s.Back.Count() != 3 || s.Connecting.Count() != 1 || s.Left != 0 {
		t.Errorf("%+v", s)
	}
	f.nodes[0].leave(time.Millisecond)
	testkit.Eventually(t, 30*time.Second, func() bool { s := f.Stats(); return s.Left == 1 && s.Up == 1 && s.Reconnected == 4 }, "the node has left and come back")
}

// Who may not connect at the beginning does not keep a bench waiting.
func TestForbidden(t *testing.T) {
	t.Parallel()
	f, _, ctx := start(t, 1, func(t *testing.T, _ int, c *websocket.Conn, _ *http.Request) {
		registers(t, c, `{"type":"registered","success":false,"error":"too odd"}`)
		_, _, _ = c.Read(t.Context())
	})
	if err := f.Ready(ctx); err == nil || !errors.Is(err, errRefused) || !strings.Contains(err.Error(), "too odd") {
		t.Error(err)
	}
}
