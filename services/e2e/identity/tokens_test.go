package identity_test

import (
	"crypto/rsa"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
	orchestrator "github.com/hecaton-dev/hecaton/services/agent-orchestrator/app"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
	gateway "github.com/hecaton-dev/hecaton/services/gateway/app"
	registry "github.com/hecaton-dev/hecaton/services/node-registry/app"
)

// made is a token that a user has made.
type made struct{ id, secret string }

func startWithTokens(t *testing.T) (*cluster.Cluster, *rsa.PrivateKey) {
	t.Helper()
	key := newKey(t)
	services := auth.ServiceAuth{Token: "what services show each other"}
	return cluster.Start(t, cluster.Options{
		Orchestrators: 1,
		Gateway: func(_ int, c *gateway.Config) {
			c.Auth = auth.Config{Mode: auth.JWT, PublicKey: publicPEM(t, key), Issuer: issuer, Audience: audience}
			c.Services = services
			c.MCPTaskAfter = 50 * time.Millisecond
		},
		Registry:     func(c *registry.Config) { c.Services = services },
		Orchestrator: func(_ int, c *orchestrator.Config) { c.Services = services },
	}), key
}

// makeToken makes one by REST.
func makeToken(t *testing.T, g *cluster.Gateway, by string, scopes, nodes []string) made {
	t.Helper()
	body, err := json.Marshal(map[string]any{"name": "for a test", "scopes": scopes, "nodes": nodes, "expires_in": 3600})
	if err != nil {
		t.Fatal(err)
	}
	r := g.Do(t, http.MethodPost, "/api/tokens", "", string(body), bearer(by))
	if r.Status != 200 {
		t.Fatalf("%d %s", r.Status, r.Raw)
	}
	return made{id: text(r.Body["token"].(map[string]any)["id"]), secret: text(r.Body["secret"])}
}

func revoke(t *testing.T, g *cluster.Gateway, by string, m made) {
	t.Helper()
	if r := g.Do(t, http.MethodDelete, "/api/tokens/"+m.id, "", "", bearer(by)); r.Status != 200 {
		t.Fatalf("%d %s", r.Status, r.Raw)
	}
}

// ways are requests on each way into a gateway that takes tokens, and the scopes that each needs.
var ways = map[string][]string{
	"GET /api/node/devices":             {"tools:read"},
	"GET /node/devices":                 {"tools:read"},
	"GET /api/node/session/s":           {"tools:read"},
	"GET /api/node/stats":               {"tools:read"},
	"POST /api/node/bind":               {"tools:call"},
	"POST /api/node/desktop/tool":       {"tools:call"},
	"POST /api/node/browser/tool":       {"tools:call"},
	"POST /api/tools/call":              {"tools:read", "tools:call"},
	"POST /api/agent/invoke":            {"agent:run"},
	"POST /api/agent/resume":            {"agent:run"},
	"GET /api/agent/sessions":           {"agent:run"},
	"DELETE /api/agent/sessions/s":      {"agent:run"},
	"GET /api/agent/sessions/s/events":  {"agent:run"},
	"GET /api/workspace/files":          {"agent:run"},
	"PUT /api/workspace/files/a":        {"agent:run"},
	"DELETE /api/workspace/files/a":     {"agent:run"},
	"GET /api/agent/approval-settings":  {"full"},
	"PUT /api/agent/approval-settings":  {"full"},
	"GET /api/tools":                    {"full"},
	"POST /api/tools":                   {"full"},
	"POST /api/tools/mcp/validate":      {"full"},
	"POST /api/tools/oauth/authorize":   {"full"},
	"GET /api/approvals":                {"full"},
	"POST /api/approvals/x":             {"full"},
	"GET /api/tokens":                   {"full"},
	"POST /api/tokens":                  {"full"},
	"DELETE /api/tokens/x":              {"full"},
	"SOCKET /ws/web":                    {"tools:read", "tools:call"},
	"SOCKET /ws/extension":              {"full"},
	"SOCKET /ws/desktop":                {"full"},
	"HEAD /api/agent/sessions/s/events": {"agent:run"},
}

// refused reports whether a request is refused for its token's scopes.
func refused(t *testing.T, g *cluster.Gateway, way, token string) bool {
	t.Helper()
	method, path, _ := strings.Cut(way, " ")
	if method == "SOCKET" {
		ws, err := g.TryDial(t, path, sockets[path], &websocket.DialOptions{HTTPHeader: bearer(token)})
		if err != nil {
			t.Fatal(err)
		}
		hello, welcome := `{"type":"register"}`, `"success":true`
		if path == "/ws/web" {
			hello, welcome = `{"type":"ping"}`, `"pong"`
		}
		_ = ws.TrySend(websocket.MessageText, []byte(hello)) // it may have ended already
		if frame, ok := ws.TryNext(); ok {
			if !strings.Contains(frame, welcome) {
				t.Errorf("%s: %s", way, frame)
			}
			return false
		}
		return ws.Ended() == 4003
	}
	body := ""
	if method == http.MethodPost || method == http.MethodPut {
		body = "{"
	}
	r := g.Do(t, method, path, "", body, bearer(token))
	if r.Status != http.StatusForbidden {
		return false
	}
	if challenge := r.Header.Get("WWW-Authenticate"); !strings.Contains(challenge, `error="insufficient_scope"`) || !strings.Contains(challenge, `scope="`) ||
		method != http.MethodHead && r.Body["reason"] != "INSUFFICIENT_SCOPE" {
		t.Errorf("%s: %q %s", way, challenge, r.Raw)
	}
	return true
}

// A token is held to its scopes on every way alike, whoever signed it; no way is wider than another.
func TestScopesHoldOnEveryWay(t *testing.T) {
	t.Parallel()
	c, key := startWithTokens(t)
	full := mint(t, key, "ana", nil)
	for name, scopes := range map[string][]string{
		"reads": {"tools:read"}, "calls": {"tools:call"}, "both": {"tools:read", "tools:call"}, "runs": {"agent:run"},
		"reads and runs": {"tools:read", "agent:run"}, "all": {"full"}, "nothing known": {"openid"},
	} {
		tokens := map[string]string{
			"JWT": mint(t, key, "ana", func(c *auth.Claims) { c.Scopes = scopes }),
		}
		if name != "nothing known" {
			tokens["made"] = makeToken(t, c.Gateways[0], full, scopes, nil).secret
		}
		limited := mint(t, key, "ana", func(c *auth.Claims) { c.Scopes = append([]string{"node:d"}, scopes...) })
		for kind, token := range tokens {
			for way, need := range ways {
				allowed := true
				for _, s := range need {
					allowed = allowed && (strings.Contains(strings.Join(scopes, " "), s) || name == "all")
				}
				if refused(t, c.Gateways[1], way, token) == allowed {
					t.Errorf("%s, %s with %v: allowed is %t", kind, way, scopes, !allowed)
				}
			}
		}
		for way, need := range ways { // what could reach other nodes
			switch {
			case need[0] == "tools:read" && len(need) == 1 && way != "GET /api/node/session/s", need[0] == "tools:call":
			default:
				if !refused(t, c.Gateways[1], way, limited) {
					t.Errorf("%s with %v and a limit to a node", way, scopes)
				}
			}
		}
	}
	// ToolService believes services, and no user's token.
	ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+full)
	if _, err := c.Gateways[0].Tools.ListNodes(ctx, &toolv1.ListNodesRequest{UserId: "ana"}); status.Code(err) != codes.Unauthenticated {
		t.Errorf("gRPC: %v", err)
	}
}

// A token for some nodes sees and calls these only, on every pod.
func TestTokenOfOneNode(t *testing.T) {
	t.Parallel()
	c, key := startWithTokens(t)
	full := mint(t, key, "ana", nil)
	for _, node := range []string{"desk", "my lap%top"} {
		ws, err := c.Gateways[0].TryDial(t, "/ws/desktop", url.Values{"client_id": {"desktop_ana"}, "node_id": {node}}, &websocket.DialOptions{HTTPHeader: bearer(full)})
		if err != nil {
			t.Fatal(err)
		}
		ws.Register("")
		ws.Serve(func(cluster.ToolCall) string { return cluster.Text("at " + node) })
	}
	for kind, token := range map[string]string{
		"made": makeToken(t, c.Gateways[0], full, []string{"tools:read", "tools:call"}, []string{"my lap%top"}).secret,
		"JWT": mint(t, key, "ana", func(c *auth.Claims) {
			c.Scopes = []string{"tools:read", "tools:call", auth.NodeScope("my lap%top")}
		}),
	} {
		for i, g := range c.Gateways {
			list := g.Do(t, http.MethodGet, "/api/node/devices", "", "", bearer(token))
			if !strings.Contains(list.Raw, "my lap%top") || strings.Contains(list.Raw, "desk\"") || list.Body["total"] != 1.0 {
				t.Errorf("%s sees on pod %d: %s", kind, i, list.Raw)
			}
			call := func(more string) cluster.Response {
				return g.Do(t, http.MethodPost, "/api/node/desktop/tool", "", `{"tool_name":"where","tool_args":{}`+more+`}`, bearer(token))
			}
			if r := call(""); !strings.Contains(r.Raw, "at my lap%top") {
				t.Errorf("%s, a call that names none: %s", kind, r.Raw)
			}
			if r := call(`,"node_id":"my lap%top"`); !strings.Contains(r.Raw, "at my lap%top") {
				t.Errorf("%s, its own: %s", kind, r.Raw)
			}
			if r := call(`,"node_id":"desk"`); r.Status != 403 || r.Body["reason"] != "INSUFFICIENT_SCOPE" {
				t.Errorf("%s, another: %d %s", kind, r.Status, r.Raw)
			}
			if r := g.Do(t, http.MethodPost, "/api/node/bind", "", `{"session_id":"s","node_id":"desk"}`, bearer(token)); r.Status != 403 {
				t.Errorf("%s binds another: %d %s", kind, r.Status, r.Raw)
			}
		}
	}
}

// A revoked token is refused on every pod at once, and what is open with it ends.
func TestRevokedTokenEndsEverywhere(t *testing.T) {
	t.Parallel()
	c, key := startWithTokens(t)
	full := mint(t, key, "ana", nil)
	m := makeToken(t, c.Gateways[0], full, []string{"full"}, nil)
	if list := c.Gateways[1].Do(t, http.MethodGet, "/api/tokens", "", "", bearer(full)); !strings.Contains(list.Raw, m.id) || strings.Contains(list.Raw, m.secret[len(m.secret)-20:]) {
		t.Errorf("the list: %s", list.Raw)
	}
	if r := c.Gateways[1].Do(t, http.MethodDelete, "/api/tokens/"+m.id, "", "", bearer(mint(t, key, "bob", nil))); r.Status != 404 {
		t.Errorf("another user revokes it: %d %s", r.Status, r.Raw)
	}
	open := make(map[string]*cluster.Client)
	var streams []*cluster.Stream
	for i, g := range c.Gateways {
		for path := range sockets {
			ws := dial(t, g, path, m.secret)
			if path != "/ws/web" {
				ws.Register("")
			}
			open[g.HTTP+path] = ws
		}
		session := "s" + string(rune('0'+i))
		g.Stream(t, http.MethodPost, "/api/agent/invoke", map[string]any{"message": "hello", "session_id": session}, bearer(m.secret)).Complete("stop")
		streams = append(streams, g.Stream(t, http.MethodGet, "/api/agent/sessions/"+session+"/events", nil, bearer(m.secret)))
	}
	for _, path := range []string{"/ws/extension", "/ws/desktop"} { // the second pod took the nodes over
		delete(open, c.Gateways[0].HTTP+path)
	}
	revoke(t, c.Gateways[1], full, m)
	began := time.Now()
	for i, g := range c.Gateways {
		testkit.Eventually(t, 10*time.Second, func() bool {
			return g.Do(t, http.MethodGet, "/api/node/devices", "", "", bearer(m.secret)).Status == 401
		}, "pod %d refuses the token", i)
		if took := time.Since(began); took > time.Second {
			t.Errorf("pod %d took it for another %v", i, took)
		}
	}
	for what, ws := range open {
		if code := ws.Ended(); code != 4003 {
			t.Errorf("%s: closed with %d", what, code)
		}
	}
	for _, s := range streams {
		s.All()
	}
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("the last ended after %v", took)
	}
	if r := c.Gateways[0].Do(t, http.MethodDelete, "/api/tokens/"+m.id, "", "", bearer(full)); r.Status != 404 || r.Body["reason"] != "TOKEN_NOT_FOUND" {
		t.Errorf("again: %d %s", r.Status, r.Raw)
	}
}

// Requests for tokens that make no sense are refused in words.
func TestTokenRequestsAreChecked(t *testing.T) {
	t.Parallel()
	c, key := startWithTokens(t)
	full := mint(t, key, "ana", nil)
	for body, says := range map[string]string{
		`{}`:                                          "scopes is empty",
		`{"scopes":["tools:write"]}`:                  "must be one of",
		`{"scopes":["node:x"]}`:                       "must be one of",
		`{"scopes":["full","full"]}`:                  "twice",
		`{"scopes":["full"],"nodes":[""]}`:            "nodes",
		`{"scopes":["full"],"expires_in":59}`:         "expires_in",
		`{"scopes":["full"],"expires_in":-1}`:         "expires_in",
		`{"scopes":["full"],"expires_in":2147483647}`: "expires_in",
		`{"scopes":"full"}`:                           "scopes",
	} {
		if r := c.Gateways[0].Do(t, http.MethodPost, "/api/tokens", "", body, bearer(full)); r.Status != 400 || !strings.Contains(r.Raw, says) {
			t.Errorf("%s: %d %s", body, r.Status, r.Raw)
		}
	}
	m := makeToken(t, c.Gateways[0], full, []string{"full"}, nil)
	for name, token := range map[string]string{
		"another secret": m.secret[:len(m.secret)-1] + string("01"[(m.secret[len(m.secret)-1]&1)^1]),
		"its id alone":   "hct_" + m.id, "no secret": "hct_" + m.id + "_", "nothing": "hct_", "no hex": "hct_" + strings.Repeat("z", 24) + "_" + strings.Repeat("z", 64),
	} {
		if r := c.Gateways[1].Do(t, http.MethodGet, "/api/node/devices", "", "", bearer(token)); r.Status != 401 ||
			!strings.Contains(r.Header.Get("WWW-Authenticate"), `error="invalid_token"`) {
			t.Errorf("%s: %d %s", name, r.Status, r.Raw)
		}
	}
}
