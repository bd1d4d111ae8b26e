package mcp_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool/mcp"
)

// everybodys are servers that every user has saved.
type everybodys []mcp.Server

func (s everybodys) Servers(context.Context, ids.UserID) ([]mcp.Server, error) { return s, nil }

// at is a saved server.
func at(id, url string) mcp.Server {
	return mcp.Server{ID: id, McpServer: &agentv1.McpServer{Name: id, BaseUrl: url}}
}

// sessioned is a server that counts the sessions that are open.
func sessioned(t *testing.T) (url string, open *atomic.Int64, st *state) {
	t.Helper()
	open = &atomic.Int64{}
	s, st := serve(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodDelete {
				defer open.Add(-1)
			} else if body, err := io.ReadAll(r.Body); err == nil {
				if bytes.Contains(body, []byte(`"initialize"`)) {
					open.Add(1)
				}
				r.Body = io.NopCloser(bytes.NewReader(body))
			}
			next.ServeHTTP(w, r)
		})
	})
	return s.URL, open, st
}

func gone(t *testing.T, open *atomic.Int64, want int64) {
	t.Helper()
	testkit.Eventually(t, 5*time.Second, func() bool { return open.Load() == want }, "the number of sessions is not as it should be")
}

// A connection that nobody uses ends after a while, and with the source.
func TestAnIdleConnectionEnds(t *testing.T) {
	t.Parallel()
	url, open, _ := sessioned(t)
	s := source(t, func(o *mcp.Options) { o.Saved, o.IdleTimeout = everybodys{at("one", url)}, 100*time.Millisecond })
	for range 2 {
		listing, err := s.Tools(t.Context(), tool.Scope{User: "ana"})
		if err != nil || len(listing.Tools) == 0 || open.Load() != 1 {
			t.Fatalf("%v, %d sessions, %q", err, open.Load(), listing.Problems)
		}
		listing.Close()
		gone(t, open, 0)
	}
	long := source(t, func(o *mcp.Options) { o.Saved = everybodys{at("one", url)} })
	for _, user := range []ids.UserID{"ana", "bob", "ana"} {
		listing, err := long.Tools(t.Context(), tool.Scope{User: user})
		if err != nil {
			t.Fatal(err)
		}
		listing.Close()
	}
	gone(t, open, 2) // one for each user
	long.Close()
	gone(t, open, 0)
}

// A user's connections that nobody uses are bounded in number.
func TestIdleConnectionsAreBounded(t *testing.T) {
	t.Parallel()
	url, open, _ := sessioned(t)
	var all everybodys
	for i := range 20 {
		all = append(all, at(fmt.Sprint("s", i), url))
	}
	s := source(t, func(o *mcp.Options) { o.Saved = all })
	listing, err := s.Tools(t.Context(), tool.Scope{User: "ana"})
	if err != nil || open.Load() != 20 {
		t.Fatalf("%v, %d sessions", err, open.Load())
	}
	listing.Close()
	gone(t, open, 16)
}

// What was changed is not used any more; a call that is under way is answered, and a run learns that it has to list anew.
func TestAChangedServerIsLeftOnceItsCallsAreOver(t *testing.T) {
	t.Parallel()
	url, open, st := sessioned(t)
	s := source(t, func(o *mcp.Options) { o.Saved = everybodys{at("one", url)} })
	listing, err := s.Tools(t.Context(), tool.Scope{User: "ana"})
	if err != nil {
		t.Fatal(err)
	}
	defer listing.Close()
	answered := make(chan error, 1)
	hang := find(t, listing, "hang")
	go func() {
		got, err := call(t.Context(), hang, "{}")
		if err == nil && got.Text != "late" {
			err = errors.New(got.Text)
		}
		answered <- err
	}()
	<-st.running
	if listing.Stale() {
		t.Error("it is stale before anything changed")
	}
	s.Changed("bob", "one")
	s.Changed("ana", "two")
	if listing.Stale() {
		t.Error("another's change counts")
	}
	s.Changed("ana", "one")
	if !listing.Stale() {
		t.Error("the change goes unnoticed")
	}
	var failure *tool.Failure
	if _, err := call(t.Context(), find(t, listing, "echo"), `{"text":"a"}`); !errors.As(err, &failure) || failure.Outcome != tool.NotDelivered {
		t.Errorf("a call by the old configuration: %v", err)
	}
	st.release()
	if err := <-answered; err != nil {
		t.Errorf("the call that was under way: %v", err)
	}
	gone(t, open, 0)
}

// Definitions are remembered for as long as the server says, and at most until it says that they changed.
func TestDefinitionsAreRememberedAsTheServerAllows(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		ttl  int
		want int64 // lists that reach the server, of three
	}{"for a minute": {60_000, 1}, "for ever": {1 << 40, 1}, "not at all": {0, 3}, "less than that": {-5, 3}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var lists atomic.Int64
			server := sdk.NewServer(&sdk.Implementation{Name: "s", Version: "1"}, &sdk.ServerOptions{
				SetCacheable: func(_ context.Context, _ sdk.Request, c *sdk.Cacheable) { c.TTLMs = tt.ttl },
			})
			server.AddTool(&sdk.Tool{Name: "a", InputSchema: object("")}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				return text("a"), nil
			})
			handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, &sdk.StreamableHTTPOptions{Stateless: true})
			h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Mcp-Method") == "tools/list" {
					lists.Add(1)
				}
				handler.ServeHTTP(w, r)
			}))
			t.Cleanup(h.Close)
			s := source(t, func(o *mcp.Options) { o.Saved = everybodys{at("one", h.URL)} })
			list := func() []tool.Tool {
				listing, err := s.Tools(t.Context(), tool.Scope{User: "ana"})
				if err != nil || len(listing.Problems) > 0 {
					t.Fatal(err, listing.Problems)
				}
				listing.Close()
				return listing.Tools
			}
			for range 3 {
				if got := list(); len(got) != 1 {
					t.Fatalf("%d tools", len(got))
				}
			}
			if n := lists.Load(); n != tt.want {
				t.Errorf("the server was asked %d times, want %d", n, tt.want)
			}
			ctx, stop := context.WithCancel(t.Context())
			heard, over := make(chan mcp.Change, 10), make(chan struct{})
			go func() {
				defer close(over)
				_ = s.Watch(ctx, "ana", func(c mcp.Change) error { heard <- c; return nil })
			}()
			if c := <-heard; c.Tools || c.Prompts {
				t.Errorf("the watch begins with %+v", c)
			}
			added := 0
			testkit.Eventually(t, 10*time.Second, func() bool { // it may not be listened to yet
				added++
				server.AddTool(&sdk.Tool{Name: fmt.Sprint("b", added), InputSchema: object("")}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
					return text("b"), nil
				})
				select {
				case c := <-heard:
					return c.Tools
				case <-time.After(200 * time.Millisecond):
					return false
				}
			}, "the change is not heard")
			if got := list(); len(got) != added+1 {
				t.Errorf("%d tools after the change, want %d", len(got), added+1)
			}
			stop()
			<-over
		})
	}
}
