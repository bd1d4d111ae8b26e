package mcp_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/netguard"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool/mcp"
)

// What a run is told of a server's tools, over all pages.
func TestSpecs(t *testing.T) {
	t.Parallel()
	s, _ := serve(t, nil)
	listing := open(t, source(t, nil), request(&agentv1.McpServer{Name: "my server", BaseUrl: s.URL, Prompts: []string{"house", "missing"}}))
	if len(listing.Tools) != 12 {
		t.Errorf("%d tools", len(listing.Tools))
	}
	const nothing = `A tool of the MCP server "my server", which does not describe it.`
	for name, want := range map[string]tool.Spec{
		"echo":       {Description: `A tool of the MCP server "my server", which describes it so: "Says it again"`}, // it says that it only reads, and nobody trusts it
		"drop.table": {Confirm: true, Description: nothing},
		"append":     {Description: nothing},
		"pay":        {Confirm: true, Description: nothing},
		"fail":       {Description: nothing},
	} {
		got := find(t, listing, name).Spec()
		if got.ReadOnly != want.ReadOnly || got.Confirm != want.Confirm || got.Description != want.Description || got.Layer != tool.MCP ||
			got.Category != tool.Service || got.Server != "my server" || got.Timeout != 1800*time.Second || got.Parallel {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got := string(find(t, listing, "echo").Spec().Parameters); !strings.Contains(got, `"text"`) {
		t.Errorf("parameters %s", got)
	}
	if want := (tool.Remark{Kind: "prompt of an MCP server", Of: "my server: house", Text: "Be kind.\n\nBe brief."}); len(listing.Remarks) != 1 || listing.Remarks[0] != want {
		t.Errorf("remarks %q", listing.Remarks)
	}
	if len(listing.Problems) != 1 || !strings.Contains(listing.Problems[0], "my server") {
		t.Errorf("problems %q", listing.Problems)
	}
}

func TestTransports(t *testing.T) {
	t.Parallel()
	streamable, _ := serve(t, nil)
	sse := httptest.NewServer(sdk.NewSSEHandler(func(*http.Request) *sdk.Server { return newServer(&state{}) }, nil))
	t.Cleanup(sse.Close)
	stateless := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return newServer(&state{}) },
		&sdk.StreamableHTTPOptions{Stateless: true, JSONResponse: true}))
	t.Cleanup(stateless.Close)
	for name, config := range map[string]*agentv1.McpServer{
		"default":   {BaseUrl: streamable.URL},
		"named":     {BaseUrl: streamable.URL, TransportType: "streamable_http"},
		"stateless": {BaseUrl: stateless.URL},
		"sse":       {BaseUrl: sse.URL, TransportType: "sse"},
		"stdio":     process("serve"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			listing := open(t, source(t, func(o *mcp.Options) { o.Stdio = true }), request(config))
			got, err := call(t.Context(), find(t, listing, "echo"), `{"text":"hello"}`)
			if err != nil || got.Text != "hello" || got.IsError {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

// The key and the headers reach the server; what is the protocol's cannot be changed.
func TestHeaders(t *testing.T) {
	t.Parallel()
	seen := make(chan http.Header, 64)
	s, _ := serve(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			select {
			case seen <- r.Header.Clone():
			default:
			}
			next.ServeHTTP(w, r)
		})
	})
	open(t, source(t, nil), request(&agentv1.McpServer{Name: "a", BaseUrl: s.URL, ApiKey: "k1", Headers: map[string]string{
		"x-team": "blue", "authorization": "Basic b", "content-type": "text/plain", "mcp-session-id": "stolen",
	}}))
	h := <-seen
	if h.Get("Authorization") != "Bearer k1" || h.Get("X-Team") != "blue" || h.Get("Content-Type") != "application/json" || h.Get("Mcp-Session-Id") != "" {
		t.Errorf("%v", h)
	}
}

// A server that leads elsewhere, or is not what it should be, does not get the key there.
func TestKeyStaysWithItsOrigin(t *testing.T) {
	t.Parallel()
	thief := make(chan http.Header, 64)
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		thief <- r.Header.Clone()
		http.Error(w, "no", http.StatusBadRequest)
	}))
	t.Cleanup(other.Close)
	redirects := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	t.Cleanup(redirects.Close)
	names := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write([]byte("event: endpoint\ndata: " + other.URL + "/messages\n\n"))
	}))
	t.Cleanup(names.Close)
	for transport, base := range map[string]string{"streamable_http": redirects.URL, "sse": names.URL} {
		listing := open(t, source(t, nil), request(&agentv1.McpServer{Name: "a", BaseUrl: base, TransportType: transport, ApiKey: "secret", Headers: map[string]string{"X-Key": "secret"}}))
		if len(listing.Problems) != 1 {
			t.Errorf("problems %q", listing.Problems)
		}
		for header := range <-thief {
			if header == "Authorization" || header == "X-Key" {
				t.Errorf("%s: another origin hears %s", transport, header)
			}
		}
	}
}

// A run starts without the servers that cannot be used, and says why, within the time.
func TestProblems(t *testing.T) {
	t.Parallel()
	good, _ := serve(t, nil)
	refuses, _ := serve(t, func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusUnauthorized) })
	})
	other := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(other.Close)
	hangs, err := net.Listen("tcp", "127.0.0.1:0") // accepts, and never answers
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = hangs.Close() })
	nobody, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = nobody.Close()
	deaf := process("deaf")
	for name, tt := range map[string]struct {
		config *agentv1.McpServer
		want   string
	}{
		"unauthorized": {&agentv1.McpServer{BaseUrl: refuses.URL}, "does not take the key (HTTP status 401)"},
		"other server": {&agentv1.McpServer{BaseUrl: other.URL}, "HTTP status 404"},
		"hanging":      {&agentv1.McpServer{BaseUrl: "http://" + hangs.Addr().String()}, "did not answer in time"},
		"hanging sse":  {&agentv1.McpServer{BaseUrl: "http://" + hangs.Addr().String(), TransportType: "sse"}, "did not answer in time"},
		"nobody":       {&agentv1.McpServer{BaseUrl: "http://" + nobody.Addr().String()}, "cannot be reached"},
		"no url":       {&agentv1.McpServer{}, "https://"},
		"no transport": {&agentv1.McpServer{BaseUrl: good.URL, TransportType: "pigeon"}, "transport_type"},
		"no command":   {&agentv1.McpServer{TransportType: "stdio", Command: "/no/such/command"}, "cannot be started"},
		"no MCP":       {process("mute"), "process ended"},
		"deaf":         {deaf, "did not answer in time"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tt.config.Name = "bad"
			s := source(t, func(o *mcp.Options) {
				if o.Stdio = true; strings.Contains(tt.want, "in time") {
					o.ConnectTimeout = 500 * time.Millisecond
				}
			})
			listing := open(t, s, request(tt.config))
			if len(listing.Problems) != 1 || !strings.Contains(listing.Problems[0], "MCP server bad: ") || !strings.Contains(listing.Problems[0], tt.want) {
				t.Errorf("problems %q, want %q", listing.Problems, tt.want)
			}
		})
	}
	t.Run("beside a good one", func(t *testing.T) {
		t.Parallel()
		listing := open(t, source(t, nil), request(&agentv1.McpServer{Name: "bad", BaseUrl: refuses.URL}, &agentv1.McpServer{Name: "good", BaseUrl: good.URL}))
		if got, err := call(t.Context(), find(t, listing, "echo"), `{"text":"a"}`); err != nil || got.Text != "a" || len(listing.Problems) != 1 {
			t.Errorf("%+v, %v, problems %q", got, err, listing.Problems)
		}
	})
}

// What the operator does not allow is not tried.
func TestRefused(t *testing.T) {
	t.Parallel()
	s, st := serve(t, nil)
	public, err := netguard.New(netguard.Config{})
	if err != nil {
		t.Fatal(err)
	}
	closed := source(t, func(o *mcp.Options) { o.Guard = public })
	for name, config := range map[string]*agentv1.McpServer{"loopback": {BaseUrl: s.URL}, "process": process("serve")} {
		listing := open(t, closed, request(config))
		if len(listing.Tools) != 0 || len(listing.Problems) != 1 || !strings.Contains(listing.Problems[0], "this server") {
			t.Errorf("%s: %q", name, listing.Problems)
		}
		var e *mcp.Error
		if _, err := closed.Validate(t.Context(), config); !errors.As(err, &e) || e.Kind != mcp.Refused {
			t.Errorf("%s: %v", name, err)
		}
	}
	if st.runs.Load() != 0 {
		t.Error("it was asked")
	}
}

// saved are servers of ana's.
type saved []mcp.Server

func (s saved) Servers(_ context.Context, user ids.UserID) ([]mcp.Server, error) {
	if user != "ana" {
		return nil, errors.New("the store is away")
	}
	return s, nil
}

func TestSavedServers(t *testing.T) {
	t.Parallel()
	one, _ := serve(t, nil)
	two, _ := serve(t, nil)
	s := source(t, func(o *mcp.Options) {
		o.Saved = saved{
			{McpServer: &agentv1.McpServer{Name: "one", BaseUrl: "http://127.0.0.1:1"}, Trusted: true},
			{McpServer: &agentv1.McpServer{Name: "two", BaseUrl: two.URL}, Trusted: true},
		}
	})
	listing := open(t, s, request(&agentv1.McpServer{Name: "one", BaseUrl: one.URL}))
	var from []string
	for _, got := range listing.Tools {
		if got.Spec().Name == "echo" {
			from = append(from, got.Spec().Server)
			if got.Spec().ReadOnly != (got.Spec().Server == "two") { // the one of the request is not the saved one
				t.Errorf("%s of %s: read only is %t", got.Spec().Name, got.Spec().Server, got.Spec().ReadOnly)
			}
		}
	}
	if !slices.Equal(from, []string{"one", "two"}) || len(listing.Problems) != 0 {
		t.Errorf("from %q, problems %q", from, listing.Problems)
	}
	if _, err := s.Tools(t.Context(), tool.Scope{User: "bob"}); err == nil {
		t.Error("a store that fails goes unnoticed")
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	s, _ := serve(t, nil)
	got, err := source(t, nil).Validate(t.Context(), &agentv1.McpServer{BaseUrl: s.URL})
	if err != nil || len(got.Tools) != 12 || len(got.Prompts) != 1 || got.Prompts[0].Description != "Rules of the house" {
		t.Errorf("%+v, %v", got, err)
	}
}
