package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// theirs is an MCP server of somebody else's that notes what it is asked.
type theirs struct {
	*httptest.Server
	mcp *sdk.Server

	mu    sync.Mutex
	asked map[string]int // guarded by mu: requests by their method, of JSON-RPC or of HTTP
	keys  []string       // of the tool calls, in order
	open  int            // streams on which it may speak unasked
}

// eras are the servers there are: of sessions, and of the stateless revision.
var eras = map[string]*sdk.StreamableHTTPOptions{"sessions": nil, "stateless": {Stateless: true, PropagateRequestCancellation: true}}

// newTheirs has the tool "whoami", which says the key that it was called with.
func newTheirs(t *testing.T, era *sdk.StreamableHTTPOptions) *theirs {
	t.Helper()
	s := &theirs{asked: map[string]int{}}
	s.mcp = sdk.NewServer(&sdk.Implementation{Name: "theirs", Version: "1"}, nil)
	s.add("whoami", func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return textResult("called with " + r.Extra.Header.Get("Authorization")), nil
	})
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s.mcp }, era)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		var m struct{ Method string }
		_ = json.Unmarshal(body, &m)
		unasked := r.Method == http.MethodGet || m.Method == "subscriptions/listen"
		s.note(r, m.Method, unasked, 1)
		defer s.note(r, "", unasked, -1)
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
		for session := range s.mcp.Sessions() {
			_ = session.Close()
		}
	})
	return s
}

func (s *theirs) note(r *http.Request, method string, unasked bool, opened int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if unasked {
		s.open += opened
	}
	if opened < 0 {
		return
	}
	s.asked[method]++
	s.asked[r.Method]++
	if method == "tools/call" {
		s.keys = append(s.keys, r.Header.Get("Authorization"))
	}
}

func (s *theirs) count(method string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[method]
}

// streams are those on which the server may speak unasked.
func (s *theirs) streams() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open
}

func (s *theirs) add(name string, do sdk.ToolHandler) {
	s.mcp.AddTool(&sdk.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)}, do)
}

func textResult(text string) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}
}

// saveKeyed saves a server with a key, and returns the configuration's id.
func saveKeyed(t *testing.T, g *cluster.Gateway, user, name, url, key string) string {
	t.Helper()
	r := g.Do(t, http.MethodPost, "/api/tools", user, `{"type":"mcp","name":"`+name+`","base_url":"`+url+`","api_key":"`+key+`"}`, nil)
	var saved struct{ ID string }
	if err := json.Unmarshal([]byte(r.Raw), &saved); err != nil || saved.ID == "" {
		t.Fatalf("%d %s", r.Status, r.Raw)
	}
	return saved.ID
}

const callWhoami = `"name":"theirs__whoami","arguments":{}`

// A server is connected to once by each orchestrator, for all lists and calls, until its configuration changes: then nobody is called by
// the old one any more, whichever orchestrator heard of it.
func TestTheConnectionToASavedServerIsKept(t *testing.T) {
	t.Parallel()
	for era, options := range eras {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			c, _ := agents(t)
			s := newTheirs(t, options)
			connects := func() int { return s.count("initialize") + s.count("server/discover") }
			id := saveKeyed(t, c.Gateways[0], "ana", "theirs", s.URL, "one")
			each := func(want string) {
				t.Helper()
				for range 3 {
					for _, g := range c.Gateways {
						if tool := listedTool(t, g, withAgents, "theirs__whoami"); tool == nil {
							t.Fatal("the tool is not listed")
						}
						if r := newer(t, g, withAgents, "tools/call", callWhoami, ""); r.text() != want {
							t.Fatal(r.Raw)
						}
					}
				}
			}
			each("called with Bearer one")
			first := connects()
			if most := len(c.Gateways) * 2; first > most { // a client that probes asks twice
				t.Errorf("%d connections for 12 requests", first)
			}
			each("called with Bearer one")
			if n := connects(); n != first {
				t.Errorf("%d connections more", n-first)
			}
			change := `{"type":"mcp","name":"theirs","base_url":"` + s.URL + `","api_key":"two"}`
			if r := c.Gateways[0].Do(t, http.MethodPut, "/api/tools/"+id, "ana", change, nil); r.Status != http.StatusOK {
				t.Fatal(r.Raw)
			}
			each("called with Bearer two")
			if options == nil { // the old sessions were ended, at both orchestrators
				testkit.Eventually(t, 5*time.Second, func() bool { return s.count(http.MethodDelete) == 2 }, "the old sessions live on")
			}
			if r := c.Gateways[1].Do(t, http.MethodDelete, "/api/tools/"+id, "ana", "", nil); r.Status != http.StatusOK {
				t.Fatal(r.Raw)
			}
			before := s.count("tools/call")
			for _, g := range c.Gateways {
				if r := newer(t, g, withAgents, "tools/call", callWhoami, ""); r.at("result", "isError") != true && r.at("error") == nil {
					t.Error(r.Raw)
				}
			}
			if n := s.count("tools/call"); n != before {
				t.Error("a server was called whose configuration is gone")
			}
			if options == nil {
				testkit.Eventually(t, 5*time.Second, func() bool { return s.count(http.MethodDelete) == 4 }, "the sessions live on")
			}
		})
	}
}

// Two users of one server, each with a key, never call by the other's.
func TestUsersOfOneServerShareNothing(t *testing.T) {
	t.Parallel()
	c, _ := agents(t)
	s := newTheirs(t, nil)
	for _, user := range []string{"ana", "bob"} {
		saveKeyed(t, c.Gateways[0], user, "theirs", s.URL, user+"s-key")
		if r := newer(t, c.Gateways[0], withAgents, "tools/list", "", "", "X-User-Id", user); !strings.Contains(r.Raw, "theirs__whoami") {
			t.Fatal(r.Raw)
		}
	}
	var calls sync.WaitGroup
	for i := range 40 {
		calls.Go(func() {
			user := []string{"ana", "bob"}[i%2]
			if r := newer(t, c.Gateways[i/2%2], withAgents, "tools/call", callWhoami, "", "X-User-Id", user); r.text() != "called with Bearer "+user+"s-key" {
				t.Errorf("%s: %s", user, r.Raw)
			}
		})
	}
	calls.Wait()
}

// What a server says of changes is passed on to who listens, in both eras of the server and of the client, at any pod; and nobody
// listens to the server for longer than that.
func TestChangesOfASavedServerAreAnnounced(t *testing.T) {
	t.Parallel()
	for era, options := range eras {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			c, _ := agents(t)
			s := newTheirs(t, options)
			saveKeyed(t, c.Gateways[0], "ana", "theirs", s.URL, "one")
			listed(t, c.Gateways[0], withAgents)
			if n := s.streams(); n != 0 {
				t.Fatalf("%d streams though nobody listens", n)
			}
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			var news []chan struct{}
			var clients []*sdk.ClientSession
			for i, g := range c.Gateways {
				changed := make(chan struct{}, 100)
				client := sdk.NewClient(&sdk.Implementation{Name: "t", Version: "1"}, &sdk.ClientOptions{
					ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) { changed <- struct{}{} },
				})
				session, err := client.Connect(ctx, &sdk.StreamableClientTransport{
					Endpoint: "http://" + g.HTTP + "/mcp" + withAgents, HTTPClient: &http.Client{Transport: asAna{}},
				}, &sdk.ClientSessionOptions{ProtocolVersion: []string{"2026-07-28", "2025-11-25"}[i]})
				if err != nil {
					t.Fatal(err)
				}
				news, clients = append(news, changed), append(clients, session)
			}
			testkit.Eventually(t, 10*time.Second, func() bool { return s.streams() == 2 }, "nobody listens to the server")
			for i := range 2 {
				name := fmt.Sprint("added", i)
				s.add(name, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) { return textResult(name), nil })
				for i, session := range clients {
					heard(t, news[i], func() bool { return strings.Contains(strings.Join(tools(t, session), " "), "theirs__"+name) })
				}
			}
			// What is saved is a change, too.
			saveKeyed(t, c.Gateways[1], "ana", "more", s.URL, "one")
			for i, session := range clients {
				heard(t, news[i], func() bool { return strings.Contains(strings.Join(tools(t, session), " "), "more__whoami") })
			}
			for _, session := range clients {
				_ = session.Close() // the server has no DELETE
			}
			testkit.Eventually(t, 10*time.Second, func() bool { return s.streams() == 0 }, "the server is listened to for nobody")
		})
	}
}

// A server's progress comes under the client's token, and the client's cancel reaches the server, in both eras of both.
func TestProgressAndCancelOfASavedServer(t *testing.T) {
	t.Parallel()
	for era, options := range eras {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			c, _ := agents(t)
			s := newTheirs(t, options)
			began, ended := make(chan struct{}, 10), make(chan struct{}, 10)
			s.add("work", func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				for i := range 3 {
					_ = r.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{
						ProgressToken: r.Params.GetProgressToken(), Progress: float64(i + 1), Total: 3, Message: "step " + fmt.Sprint(i),
					})
				}
				began <- struct{}{}
				<-ctx.Done()
				ended <- struct{}{}
				return nil, ctx.Err()
			})
			saveKeyed(t, c.Gateways[0], "ana", "theirs", s.URL, "one")
			listed(t, c.Gateways[0], withAgents)
			for i, g := range c.Gateways {
				for _, version := range []string{"2026-07-28", "2025-06-18"} {
					said := make(chan *sdk.ProgressNotificationParams, 100)
					client := sdk.NewClient(&sdk.Implementation{Name: "t", Version: "1"}, &sdk.ClientOptions{
						ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) { said <- r.Params },
					})
					session, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{
						Endpoint: "http://" + g.HTTP + "/mcp" + withAgents, HTTPClient: &http.Client{Transport: asAna{}},
					}, &sdk.ClientSessionOptions{ProtocolVersion: version})
					if err != nil {
						t.Fatal(err)
					}
					ctx, cancel := context.WithCancel(t.Context())
					done := make(chan error, 1)
					go func() {
						params := &sdk.CallToolParams{Name: "theirs__work"}
						params.SetProgressToken("mine")
						_, err := session.CallTool(ctx, params)
						done <- err
					}()
					await(t, began, "the call")
					for last := 0.0; last < 3; {
						select {
						case p := <-said:
							if p.ProgressToken != "mine" || p.Progress <= last || !strings.HasPrefix(p.Message, "step") {
								t.Errorf("%+v", p)
							}
							last = p.Progress
						case <-time.After(10 * time.Second):
							t.Fatalf("pod %d, %s: no progress after %v", i, version, last)
						}
					}
					cancel()
					await(t, ended, "the end of the call at the server")
					if err := <-done; err == nil {
						t.Error("a cancelled call was answered")
					}
					_ = session.Close()
				}
			}
		})
	}
}

func await(t *testing.T, ch <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-ch:
	case <-time.After(10 * time.Second):
		t.Fatal("no sign of " + what)
	}
}

// eventuallyListening waits until somebody listens to the server.
func eventuallyListening(t *testing.T, s *theirs) {
	t.Helper()
	testkit.Eventually(t, 10*time.Second, func() bool { return s.streams() > 0 }, "nobody listens to the server")
}
