package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	orchestrator "github.com/hecaton-dev/hecaton/services/agent-orchestrator/app"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// posed is what a server is asked by a client of a session.
type posed struct {
	ID     json.RawMessage
	Method string
	Params struct {
		Name, Cursor string
	}
}

// strange is a server whose answers are up to a test; "" is answered as an honest server would that has one tool.
func strange(t *testing.T, answer func(w http.ResponseWriter, r *http.Request, m posed) string) string {
	t.Helper()
	over := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var m posed
		_ = json.Unmarshal(body, &m)
		result := answer(w, r, m)
		switch {
		case result == hang:
			select {
			case <-over:
			case <-r.Context().Done():
			}
			return
		case result == done:
			return
		case result != "":
		case r.Method != http.MethodPost:
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		case m.Method == "initialize":
			result = `{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true},"prompts":{}},"serverInfo":{"name":"s","version":"1"}}`
		case m.Method == "tools/list":
			result = `{"tools":[{"name":"tool","inputSchema":{"type":"object"}}]}`
		case m.Method == "prompts/list":
			result = `{"prompts":[]}`
		case m.Method == "tools/call":
			result = `{"content":[{"type":"text","text":"ran"}]}`
		case m.ID == nil:
			w.WriteHeader(http.StatusAccepted)
			return
		default:
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`, m.ID)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
	}))
	t.Cleanup(func() {
		close(over)
		s.CloseClientConnections()
		s.Close()
	})
	return s.URL
}

// What a strange server does instead of answering a result.
const hang, done = "hang", "done"

// A server that does what none should harms nobody: the user's other tools are listed in time, and calls end.
func TestStrangeServersHarmNobody(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("x", 1<<20)
	for name, answer := range map[string]func(w http.ResponseWriter, r *http.Request, m posed) string{
		"hangs in initialize": func(_ http.ResponseWriter, _ *http.Request, m posed) string {
			if m.Method == "initialize" || m.Method == "server/discover" {
				return hang
			}
			return ""
		},
		"pages without end": func() func(http.ResponseWriter, *http.Request, posed) string {
			var n atomic.Int64
			return func(_ http.ResponseWriter, _ *http.Request, m posed) string {
				if strings.HasSuffix(m.Method, "/list") {
					return fmt.Sprintf(`{"tools":[],"prompts":[],"nextCursor":"c%d"}`, n.Add(1))
				}
				return ""
			}
		}(),
		"a cursor that comes again": func(_ http.ResponseWriter, _ *http.Request, m posed) string {
			if strings.HasSuffix(m.Method, "/list") {
				return `{"tools":[],"prompts":[],"nextCursor":"` + map[string]string{"": "a", "a": "b", "b": "a"}[m.Params.Cursor] + `"}`
			}
			return ""
		},
		"giant definitions": func(_ http.ResponseWriter, _ *http.Request, m posed) string {
			if strings.HasSuffix(m.Method, "/list") {
				return `{"tools":[{"name":"t` + m.Params.Cursor + `","description":"` + large + `","inputSchema":{"type":"object"}}],"prompts":[],"nextCursor":"` + m.Params.Cursor + `x"}`
			}
			return ""
		},
		"millions of values": func(_ http.ResponseWriter, _ *http.Request, m posed) string {
			if strings.HasSuffix(m.Method, "/list") {
				return `{"tools":[` + strings.Repeat(`{},`, 1<<20) + `{}],"prompts":[` + strings.Repeat(`{},`, 1<<20) + `{}]}`
			}
			return ""
		},
		"null in lists": func(_ http.ResponseWriter, _ *http.Request, m posed) string {
			if strings.HasSuffix(m.Method, "/list") {
				return `{"tools":[null],"prompts":[null,{"name":"p","arguments":[null]}]}`
			}
			return ""
		},
		"no JSON": func(w http.ResponseWriter, _ *http.Request, _ posed) string {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, "{")
			return done
		},
		"redirects without end": func(w http.ResponseWriter, r *http.Request, _ posed) string {
			http.Redirect(w, r, r.URL.String(), http.StatusTemporaryRedirect)
			return done
		},
		"other ids": func(w http.ResponseWriter, _ *http.Request, m posed) string {
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":9999,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"},"tools":[]}}`)
			return done
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, _ := agents(t)
			good := newTheirs(t, nil)
			saveKeyed(t, c.Gateways[0], "ana", "theirs", good.URL, "one")
			saveKeyed(t, c.Gateways[0], "ana", "strange", strange(t, answer), "one")
			for _, g := range c.Gateways {
				begun := time.Now()
				if tool := listedTool(t, g, withAgents, "theirs__whoami"); tool == nil {
					t.Error("the other server's tool is not listed")
				}
				if r := newer(t, g, withAgents, "prompts/list", "", ""); r.at("result", "prompts") == nil {
					t.Error(r.Raw)
				}
				if took := time.Since(begun); took > 8*time.Second {
					t.Errorf("two lists took %s", took)
				}
				if r := newer(t, g, withAgents, "tools/call", callWhoami, ""); r.text() != "called with Bearer one" {
					t.Error(r.Raw)
				}
			}
		})
	}
}

const callTool = `"name":"strange__tool","arguments":{}`

// saveStrange saves a server and lists its tool.
func saveStrange(t *testing.T, c *cluster.Cluster, url string) {
	t.Helper()
	saveKeyed(t, c.Gateways[0], "ana", "strange", url, "one")
	for _, g := range c.Gateways {
		if tool := listedTool(t, g, withAgents, "strange__tool"); tool == nil {
			t.Fatal("the tool is not listed")
		}
	}
}

// A call of a server that answers under another id, or not at all, ends with its time; the tool may have run.
func TestACallWhoseAnswerNeverComesEndsInTime(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(w http.ResponseWriter, m posed) string{
		"another id": func(w http.ResponseWriter, _ posed) string {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":"other","result":{"content":[]}}`)
			return done
		},
		"no answer": func(http.ResponseWriter, posed) string { return hang },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, _ := agents(t)
			saveStrange(t, c, strange(t, func(w http.ResponseWriter, _ *http.Request, m posed) string {
				if m.Method == "tools/call" {
					return answer(w, m)
				}
				return ""
			}))
			for _, g := range c.Gateways {
				r := newer(t, g, withAgents, "tools/call", callTool, `"dev.hecaton/timeout-ms":700`)
				if r.at("result", "isError") != true || r.at("result", "_meta", "dev.hecaton/outcome") != "unknown" {
					t.Error(r.Raw)
				}
			}
		})
	}
}

// A server that answers a call after its client has cancelled it disturbs none of the calls that follow on the same connection.
func TestAnAnswerAfterTheCancelIsNobodys(t *testing.T) {
	t.Parallel()
	c, _ := agents(t)
	running, free := make(chan struct{}, 1), make(chan struct{})
	var late atomic.Bool
	late.Store(true)
	saveStrange(t, c, strange(t, func(_ http.ResponseWriter, _ *http.Request, m posed) string {
		if m.Method == "tools/call" && late.Swap(false) {
			running <- struct{}{}
			<-free
			return `{"content":[{"type":"text","text":"late"}]}`
		}
		return ""
	}))
	g := c.Gateways[0]
	body, h := newerRequest("tools/call", callTool, "")
	cancel := opens(t, g, withAgents, body, h)
	await(t, running, "the call")
	cancel()
	close(free)
	for range 10 {
		if r := newer(t, g, withAgents, "tools/call", callTool, ""); r.text() != "ran" {
			t.Error(r.Raw)
		}
	}
}

// opens begins a request, which the returned function ends.
func opens(t *testing.T, g *cluster.Gateway, query, body string, h http.Header) (cancel func()) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+g.HTTP+"/mcp"+query, bytes.NewReader([]byte(body)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = h
	over := make(chan struct{})
	go func() {
		defer close(over)
		if resp, err := http.DefaultClient.Do(req); err == nil {
			_ = resp.Body.Close()
		}
	}()
	return func() {
		stop()
		<-over
	}
}

// A server that forgets its sessions is connected to anew, and the call that found it out runs, once.
func TestAServerThatForgetsItsSessionsIsCalledOnce(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusNotFound, http.StatusBadRequest} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			c, _ := agents(t)
			var sessions, ran, epoch atomic.Int64
			saveStrange(t, c, strange(t, func(w http.ResponseWriter, r *http.Request, m posed) string {
				if m.Method == "initialize" {
					w.Header().Set("Mcp-Session-Id", fmt.Sprint(epoch.Load(), "-", sessions.Add(1)))
					return ""
				}
				if id := r.Header.Get("Mcp-Session-Id"); id != "" && !strings.HasPrefix(id, fmt.Sprint(epoch.Load(), "-")) {
					w.WriteHeader(status)
					return done
				}
				if m.Method == "tools/call" {
					ran.Add(1)
				}
				return ""
			}))
			for _, g := range c.Gateways {
				epoch.Add(1)
				if r := newer(t, g, withAgents, "tools/call", callTool, ""); r.text() != "ran" {
					t.Error(r.Raw)
				}
				epoch.Add(1)
				if tool := listedTool(t, g, withAgents, "strange__tool"); tool == nil {
					t.Error("the tool is not listed")
				}
			}
			if n := ran.Load(); n != 2 {
				t.Errorf("the tool ran %d times, want 2", n)
			}
		})
	}
}

// A server that dies between the list and the call was not called; when it is back, the next call runs.
func TestAServerThatDiesBetweenListAndCall(t *testing.T) {
	t.Parallel()
	c, _ := agents(t)
	s := newTheirs(t, nil)
	var away atomic.Bool
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if away.Load() {
			panic(http.ErrAbortHandler)
		}
		s.Config.Handler.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		front.CloseClientConnections()
		front.Close()
	})
	saveKeyed(t, c.Gateways[0], "ana", "theirs", front.URL, "one")
	for _, g := range c.Gateways {
		if tool := listedTool(t, g, withAgents, "theirs__whoami"); tool == nil {
			t.Fatal("the tool is not listed")
		}
		away.Store(true)
		if r := newer(t, g, withAgents, "tools/call", callWhoami, ""); r.at("result", "isError") != true || r.at("result", "_meta", "dev.hecaton/outcome") == nil {
			t.Error(r.Raw)
		}
		away.Store(false)
		if r := newer(t, g, withAgents, "tools/call", callWhoami, ""); r.text() != "called with Bearer one" {
			t.Error(r.Raw)
		}
	}
}

// A server that redirects to an address which users may not give: nothing is sent there.
func TestARedirectToAPrivateNetworkIsNotFollowed(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Orchestrators: 2, Paired: true, Orchestrator: func(_ int, o *orchestrator.Config) {
		o.Addresses.Private, o.Addresses.Allow = false, []string{"127.0.0.1"}
	}})
	var visits atomic.Int64
	listener, err := net.Listen("tcp", "127.0.0.2:0")
	must(t, err)
	inside := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { visits.Add(1) }))
	_ = inside.Listener.Close()
	inside.Listener = listener
	inside.Start()
	t.Cleanup(inside.Close)
	redirects := func(only string) string {
		return strange(t, func(w http.ResponseWriter, r *http.Request, m posed) string {
			if only == "" || m.Method == only {
				http.Redirect(w, r, inside.URL, http.StatusTemporaryRedirect)
				return done
			}
			return ""
		})
	}
	saveStrange(t, c, redirects("tools/call"))
	saveKeyed(t, c.Gateways[0], "ana", "other", redirects(""), "one")
	for _, g := range c.Gateways {
		listed(t, g, withAgents)
		if r := newer(t, g, withAgents, "tools/call", callTool, ""); r.at("result", "isError") != true {
			t.Error(r.Raw)
		}
	}
	if n := visits.Load(); n != 0 {
		t.Errorf("%d requests went inside", n)
	}
}
