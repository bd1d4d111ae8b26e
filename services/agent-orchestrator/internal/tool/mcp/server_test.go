package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/netguard"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool/mcp"
)

func ignoreSignals() { signal.Ignore(syscall.SIGTERM, syscall.SIGINT) }

// state is what a server's tools share with its test; nil in a process of its own.
type state struct {
	runs    atomic.Int32
	running chan struct{} // gets a value when "hang" runs
	free    chan struct{} // closed to let "hang" end
	release func()        // closes free
}

func object(properties string) json.RawMessage {
	return json.RawMessage(`{"type":"object","properties":{` + properties + `}}`)
}

func text(s string) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: s}}}
}

// newServer returns a real MCP server with tools of every kind.
func newServer(st *state) *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "test", Version: "1"}, &sdk.ServerOptions{PageSize: 2})
	yes, no := true, false
	add := func(t *sdk.Tool, h func(ctx context.Context, args map[string]any) (*sdk.CallToolResult, error)) {
		if t.InputSchema == nil {
			t.InputSchema = object("")
		}
		s.AddTool(t, func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			if st != nil {
				st.runs.Add(1)
			}
			var args map[string]any
			if err := json.Unmarshal(r.Params.Arguments, &args); err != nil {
				return nil, err
			}
			return h(ctx, args)
		})
	}
	add(&sdk.Tool{Name: "echo", Description: "Says it again", InputSchema: object(`"text":{"type":"string"}`), Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true, DestructiveHint: &yes}},
		func(_ context.Context, args map[string]any) (*sdk.CallToolResult, error) {
			return text(fmt.Sprint(args["text"])), nil
		})
	add(&sdk.Tool{Name: "drop.table", Annotations: &sdk.ToolAnnotations{DestructiveHint: &yes}},
		func(context.Context, map[string]any) (*sdk.CallToolResult, error) { return text("dropped"), nil })
	add(&sdk.Tool{Name: "append", Annotations: &sdk.ToolAnnotations{DestructiveHint: &no}},
		func(context.Context, map[string]any) (*sdk.CallToolResult, error) { return text("appended"), nil })
	add(&sdk.Tool{Name: "pay", Meta: sdk.Meta{"hecaton/requires_confirmation": true}},
		func(context.Context, map[string]any) (*sdk.CallToolResult, error) { return text("paid"), nil })
	add(&sdk.Tool{Name: "fail"}, func(context.Context, map[string]any) (*sdk.CallToolResult, error) {
		r := text("no such page")
		r.IsError = true
		return r, nil
	})
	add(&sdk.Tool{Name: "break"}, func(context.Context, map[string]any) (*sdk.CallToolResult, error) {
		return nil, fmt.Errorf("out of order")
	})
	add(&sdk.Tool{Name: "rich"}, func(context.Context, map[string]any) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{
			&sdk.TextContent{Text: "one"},
			&sdk.ImageContent{MIMEType: "image/png", Data: []byte("PNG")},
			&sdk.AudioContent{MIMEType: "audio/wav", Data: []byte("WAV")},
			&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "file:///a/b.pdf", MIMEType: "application/pdf", Blob: []byte("PDF")}},
			&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "file:///c.txt", Text: "two"}},
			&sdk.ResourceLink{Name: "d", URI: "https://example.com/d"},
		}}, nil
	})
	add(&sdk.Tool{Name: "huge"}, func(_ context.Context, args map[string]any) (*sdk.CallToolResult, error) {
		return text(strings.Repeat("x", int(args["bytes"].(float64)))), nil
	})
	add(&sdk.Tool{Name: "env"}, func(context.Context, map[string]any) (*sdk.CallToolResult, error) {
		return text(strings.Join(os.Environ(), "\n")), nil
	})
	add(&sdk.Tool{Name: "pid"}, func(context.Context, map[string]any) (*sdk.CallToolResult, error) {
		return text(fmt.Sprint(os.Getpid())), nil
	})
	add(&sdk.Tool{Name: "die"}, func(context.Context, map[string]any) (*sdk.CallToolResult, error) {
		os.Exit(1)
		return nil, nil
	})
	add(&sdk.Tool{Name: "hang"}, func(ctx context.Context, _ map[string]any) (*sdk.CallToolResult, error) {
		st.running <- struct{}{}
		select {
		case <-st.free:
		case <-ctx.Done():
		}
		return text("late"), nil
	})
	s.AddPrompt(&sdk.Prompt{Name: "house", Description: "Rules of the house"}, func(context.Context, *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		return &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{
			{Role: "user", Content: &sdk.TextContent{Text: "Be kind."}}, {Role: "user", Content: &sdk.TextContent{Text: "Be brief."}},
		}}, nil
	})
	return s
}

// serve returns a server over HTTP. wrap may stand before it.
func serve(t *testing.T, wrap func(http.Handler) http.Handler) (*httptest.Server, *state) {
	t.Helper()
	st := &state{running: make(chan struct{}, 8), free: make(chan struct{})}
	st.release = sync.OnceFunc(func() { close(st.free) })
	server := newServer(st)
	var h http.Handler = sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil)
	if wrap != nil {
		h = wrap(h)
	}
	s := httptest.NewServer(h)
	t.Cleanup(func() {
		st.release()
		s.CloseClientConnections()
		s.Close()
		for session := range server.Sessions() { // those that nobody could tell that they are over
			_ = session.Close()
		}
	})
	return s, st
}

func source(t *testing.T, change func(*mcp.Options)) *mcp.Source {
	t.Helper()
	g, err := netguard.New(netguard.Config{Private: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	o := mcp.Options{Guard: g}
	if change != nil {
		change(&o)
	}
	s, err := mcp.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func request(servers ...*agentv1.McpServer) tool.Scope {
	scope := tool.Scope{User: "ana", Session: "s", Run: "r", Mode: "agent"}
	for _, s := range servers {
		scope.Requested = append(scope.Requested, &agentv1.ToolSource{Source: &agentv1.ToolSource_Mcp{Mcp: s}})
	}
	return scope
}

// open returns the listing of a scope, closed with the test.
func open(t *testing.T, s *mcp.Source, scope tool.Scope) tool.Listing {
	t.Helper()
	listing, err := s.Tools(t.Context(), scope)
	if err != nil {
		t.Fatal(err)
	}
	if listing.Close != nil {
		t.Cleanup(listing.Close)
	}
	return listing
}

func find(t *testing.T, listing tool.Listing, name string) tool.Tool {
	t.Helper()
	for _, got := range listing.Tools {
		if got.Spec().Name == name {
			return got
		}
	}
	t.Fatalf("no tool %s; problems %q", name, listing.Problems)
	return nil
}

func call(ctx context.Context, t tool.Tool, args string) (tool.Result, error) {
	return t.Call(ctx, tool.Invocation{User: "ana", CallID: "c", Args: json.RawMessage(args)})
}

// onCall answers tools/call itself.
func onCall(next http.Handler, answer func(http.ResponseWriter)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		if bytes.Contains(body, []byte(`"tools/call"`)) {
			answer(w)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}
