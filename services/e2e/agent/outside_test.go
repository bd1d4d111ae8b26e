package agent_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	orchestrator "github.com/hecaton-dev/hecaton/services/agent-orchestrator/app"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// outside is an MCP server and an OAuth provider that take note of the requests they get.
type outside struct {
	mcp, provider *httptest.Server

	mu   sync.Mutex
	seen []string // guarded by mu: "method path, Authorization"
}

func newOutside(t *testing.T) *outside {
	t.Helper()
	o := &outside{}
	server := sdk.NewServer(&sdk.Implementation{Name: "pages", Version: "1"}, nil)
	say := func(text string) sdk.ToolHandler {
		return func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text + string(r.Params.Arguments)}}}, nil
		}
	}
	schema := json.RawMessage(`{"type":"object","properties":{"query":{"type":"string"}}}`)
	server.AddTool(&sdk.Tool{Name: "find", Description: "Find pages", InputSchema: schema, Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true}}, say("found "))
	server.AddTool(&sdk.Tool{Name: "publish", Description: "Publish a page", InputSchema: schema}, say("published "))
	server.AddPrompt(&sdk.Prompt{Name: "house", Description: "Rules of the house"}, func(context.Context, *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		return &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{{Role: "user", Content: &sdk.TextContent{Text: "Be brief."}}}}, nil
	})
	o.mcp = httptest.NewServer(o.note(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil)))
	t.Cleanup(func() {
		o.mcp.CloseClientConnections()
		o.mcp.Close()
		for session := range server.Sessions() {
			_ = session.Close() // a client that went without a word
		}
	})
	mux := http.NewServeMux()
	mux.HandleFunc("POST /login/oauth/access_token", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.FormValue("code") != "the-code" || r.FormValue("client_secret") != "the-client-secret" {
			_, _ = io.WriteString(w, `{"error":"bad_verification_code"}`)
			return
		}
		_, _ = io.WriteString(w, `{"access_token":"gho-token-of-github","token_type":"bearer","scope":"repo"}`)
	})
	mux.HandleFunc("GET /user/repos", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer gho-token-of-github" {
			http.Error(w, `{"message":"Bad credentials"}`, http.StatusUnauthorized)
			return
		}
		_, _ = io.WriteString(w, `[{"full_name":"ana/garden","private":true,"default_branch":"main","html_url":"https://github.com/ana/garden"}]`)
	})
	o.provider = httptest.NewServer(o.note(mux))
	t.Cleanup(o.provider.Close)
	return o
}

func (o *outside) note(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.mu.Lock()
		o.seen = append(o.seen, r.Method+" "+r.URL.Path+", "+r.Header.Get("Authorization")+", "+r.Header.Get("X-Team"))
		o.mu.Unlock()
		next.ServeHTTP(w, r)
	})
}

// asked reports whether a request came like this.
func (o *outside) asked(request string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, r := range o.seen {
		if r == request {
			return true
		}
	}
	return false
}

// known lets orchestrators know the provider as GitHub.
func (o *outside) known(opts cluster.Options) cluster.Options {
	opts.Orchestrator = func(_ int, c *orchestrator.Config) {
		c.OAuth.GitHub.ClientID, c.OAuth.GitHub.ClientSecret = "the-client", "the-client-secret"
		c.OAuth.RedirectURIs = []string{"https://a.example"}
		c.OAuth.GitHub.OAuthURL, c.OAuth.GitHub.APIURL = o.provider.URL, o.provider.URL
	}
	return opts
}
