package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
	sdkauth "github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
	gateway "github.com/hecaton-dev/hecaton/services/gateway/app"
)

// balancer sends each request to another gateway.
type balancer struct {
	*httptest.Server
	pods atomic.Pointer[[]*cluster.Gateway]
	next atomic.Int64
	seen [2]atomic.Int64
}

func startBalancer(t *testing.T) *balancer {
	t.Helper()
	b := &balancer{}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			pods := *b.pods.Load()
			i := int(b.next.Add(1)) % len(pods)
			b.seen[i].Add(1)
			r.SetURL(&url.URL{Scheme: "http", Host: pods[i].HTTP})
			r.Out.Host = r.In.Host
		},
		FlushInterval: -1,
	}
	b.Server = httptest.NewServer(proxy)
	t.Cleanup(b.Close)
	return b
}

// withOAuth is a cluster behind a balancer, whose tokens come from an authorization server; ana has a device at the first gateway.
func withOAuth(t *testing.T) (*cluster.Cluster, *authServer, *balancer) {
	t.Helper()
	as, b := startAuthServer(t), startBalancer(t)
	c := cluster.Start(t, cluster.Options{Orchestrators: 1, Gateway: func(_ int, c *gateway.Config) {
		c.Auth = auth.Config{
			Mode: auth.JWT, JWKSURL: as.URL + "/jwks", Issuer: as.URL, PublicURL: b.URL, AuthorizationServers: []string{as.URL},
		}
	}})
	b.pods.Store(&c.Gateways)
	ws, err := c.Gateways[0].TryDial(t, "/ws/extension", url.Values{"client_id": {"user_ana"}, "node_id": {"n1"}},
		&websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer " + as.sign(t, "ana", b.URL+"/mcp", nil)}}})
	if err != nil {
		t.Fatal(err)
	}
	ws.Register(chrome)
	ws.Serve(func(call cluster.ToolCall) string { return cluster.Text(call.Params.Name) })
	return c, as, b
}

// sign makes a token as the server does, without asking anyone.
func (s *authServer) sign(t *testing.T, user ids.UserID, audience string, scopes []string) string {
	t.Helper()
	token, err := auth.Mint(s.key, auth.Claims{
		User: user, Issuer: s.URL, Audience: audience, KeyID: keyID, Scopes: scopes, Expires: time.Now().Add(time.Hour),
	})
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// A client that knows nothing but the URL finds the authorization server, makes itself known there in either way, gets a token for
// this resource, and calls a tool through every pod.
func TestOAuthFromTheURLAlone(t *testing.T) {
	t.Parallel()
	_, as, b := withOAuth(t)
	const back = "http://127.0.0.1/back"
	documents := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reply(w, http.StatusOK, map[string]any{
			"client_id": "https://" + r.Host + r.URL.Path, "client_name": "a client", "redirect_uris": []string{back},
			"token_endpoint_auth_method": "none", "grant_types": []string{"authorization_code"},
		})
	}))
	t.Cleanup(documents.Close)
	as.documents = documents.Client()
	for name, config := range map[string]sdkauth.AuthorizationCodeHandlerConfig{
		"dynamic registration": {DynamicClientRegistrationConfig: &sdkauth.DynamicClientRegistrationConfig{
			Metadata: &oauthex.ClientRegistrationMetadata{ClientName: "a client", RedirectURIs: []string{back}, TokenEndpointAuthMethod: "none"},
		}},
		"client id metadata document": {ClientIDMetadataDocumentConfig: &sdkauth.ClientIDMetadataDocumentConfig{URL: documents.URL + "/client.json"}},
	} {
		t.Run(name, func(t *testing.T) {
			asked := ""
			config.RedirectURL = back
			config.AuthorizationCodeFetcher = func(ctx context.Context, args *sdkauth.AuthorizationArgs) (*sdkauth.AuthorizationResult, error) {
				asked = args.URL
				got, err := browse(ctx, args.URL)
				if err == nil && got.Get("error") != "" {
					err = errors.New(got.Encode())
				}
				return &sdkauth.AuthorizationResult{Code: got.Get("code"), State: got.Get("state"), Iss: got.Get("iss")}, err
			}
			handler, err := sdkauth.NewAuthorizationCodeHandler(&config)
			if err != nil {
				t.Fatal(err)
			}
			client := sdk.NewClient(&sdk.Implementation{Name: "t", Version: "1"}, nil)
			s, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: b.URL + "/mcp", OAuthHandler: handler}, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			for i := range 4 {
				got, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "click", Arguments: map[string]any{}})
				if err != nil || got.IsError || got.Content[0].(*sdk.TextContent).Text != "click" {
					t.Errorf("call %d: %v %+v", i, err, got)
				}
			}
			u, err := url.Parse(asked)
			q := u.Query()
			scopes := strings.Fields(q.Get("scope")) // in the order in which the SDK has them just now
			slices.Sort(scopes)
			if err != nil || q.Get("resource") != b.URL+"/mcp" || q.Get("code_challenge_method") != "S256" || !slices.Equal(scopes, []string{"tools:call", "tools:read"}) {
				t.Errorf("it was asked for %s, %v", asked, err)
			}
		})
	}
	if as.registered != 1 || as.fetched == 0 || b.seen[0].Load() == 0 || b.seen[1].Load() == 0 {
		t.Errorf("%d registrations, %d documents, pods %d and %d", as.registered, as.fetched, b.seen[0].Load(), b.seen[1].Load())
	}
}

// The endpoint takes its own tokens in the Authorization header alone, and says where to get one.
func TestForeignTokensAtTheEndpoint(t *testing.T) {
	t.Parallel()
	c, as, b := withOAuth(t)
	other := startAuthServer(t)
	good := as.sign(t, "ana", b.URL+"/mcp", []string{"tools:read", "tools:call"})
	list := `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	call := strings.Replace(strings.Replace(list, "tools/list", "tools/call", 1), `"params":{`, `"params":{"name":"click","arguments":{},`, 1)
	send := func(g *cluster.Gateway, body, query, token string) answer {
		h := headers("X-User-Id", "", "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/list")
		if body == call {
			h = headers("X-User-Id", "", "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "click")
		}
		if token != "" {
			h.Set("Authorization", "Bearer "+token)
		}
		return request(t, g, http.MethodPost, query, body, h)
	}
	for i, g := range c.Gateways {
		if r := send(g, call, "", good); r.text() != "click" {
			t.Errorf("pod %d, a good token: %d %s", i, r.Status, r.Raw)
		}
		for name, tt := range map[string]struct{ query, token, says string }{
			"none":                 {"", "", `scope="tools:read tools:call"`},
			"of another issuer":    {"", other.sign(t, "ana", b.URL+"/mcp", nil), `error="invalid_token"`},
			"of another resource":  {"", as.sign(t, "ana", "https://other.example.org/mcp", nil), `error="invalid_token"`},
			"of no resource":       {"", as.sign(t, "ana", "", nil), `error="invalid_token"`},
			"in the URL":           {"?access_token=" + good, "", `scope=`},
			"in the URL, as token": {"?token=" + good, "", `scope=`},
		} {
			r := send(g, list, tt.query, tt.token)
			challenge := r.Header.Get("WWW-Authenticate")
			if r.Status != 401 || !strings.Contains(challenge, tt.says) ||
				!strings.Contains(challenge, `resource_metadata="`+b.URL+`/.well-known/oauth-protected-resource/mcp"`) {
				t.Errorf("pod %d, a token %s: %d %q %s", i, name, r.Status, challenge, r.Raw)
			}
		}
		r := send(g, call, "", as.sign(t, "ana", b.URL+"/mcp", []string{"tools:read"}))
		if challenge := r.Header.Get("WWW-Authenticate"); r.Status != 403 || !strings.Contains(challenge, `error="insufficient_scope", scope="tools:call"`) {
			t.Errorf("pod %d, a token that reads: %d %q %s", i, r.Status, challenge, r.Raw)
		}
	}
}

// The metadata is there without a token, says what is configured, and leads no client to another host.
func TestMetadataOfTheResource(t *testing.T) {
	t.Parallel()
	c, as, b := withOAuth(t)
	trusted := cluster.Start(t, cluster.Options{Gateways: 1})
	for _, path := range []string{"/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"} {
		for _, host := range []string{"", "evil.example.org"} {
			h := http.Header{}
			if host != "" {
				h.Set("Host", host)
			}
			r := c.Gateways[1].Do(t, http.MethodGet, path, "", "", h)
			if r.Status != 200 || r.Body["resource"] != b.URL+"/mcp" || fmt.Sprint(r.Body["authorization_servers"]) != "["+as.URL+"]" ||
				fmt.Sprint(r.Body["scopes_supported"]) != "[tools:read tools:call agent:run]" {
				t.Errorf("%s at %q: %d %s", path, host, r.Status, r.Raw)
			}
		}
		g := trusted.Gateways[0]
		if r := g.Do(t, http.MethodGet, path, "", "", nil); r.Status != 200 || r.Body["resource"] != "http://"+g.HTTP+"/mcp" {
			t.Errorf("trusted: %d %s", r.Status, r.Raw)
		}
		// A page whose name was made to lead here (DNS rebinding).
		for name, h := range map[string]http.Header{"host": {"Host": {"evil.example.org"}}, "origin": {"Origin": {"http://evil.example.org"}}} {
			if r := g.Do(t, http.MethodGet, path, "", "", h); r.Status != 403 {
				t.Errorf("trusted, a foreign %s: %d %s", name, r.Status, r.Raw)
			}
		}
	}
}
