package identity_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
	gateway "github.com/hecaton-dev/hecaton/services/gateway/app"
)

func TestMain(m *testing.M) { testkit.Main(m) }

const (
	audience  = "hecaton"
	issuer    = "https://login.example.org"
	extension = "chrome-extension://abcdefghijklmnopabcdefghijklmnop"
)

func start(t *testing.T) (*cluster.Cluster, *rsa.PrivateKey) {
	t.Helper()
	key := newKey(t)
	return cluster.Start(t, cluster.Options{Gateway: func(_ int, c *gateway.Config) {
		c.Auth = auth.Config{Mode: auth.JWT, PublicKey: publicPEM(t, key), Issuer: issuer, Audience: audience}
		c.Pages.Origins = []string{extension, "https://app.example.org"}
	}}), key
}

func newKey(t *testing.T) *rsa.PrivateKey {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func publicPEM(t *testing.T, key *rsa.PrivateKey) string {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
}

func mint(t *testing.T, key any, user string, change func(*auth.Claims)) string {
	t.Helper()
	claims := auth.Claims{User: ids.UserID(user), Issuer: issuer, Audience: audience, Expires: time.Now().Add(time.Hour)}
	if change != nil {
		change(&claims)
	}
	token, err := auth.Mint(key, claims)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// forgeries are tokens that must not be believed, as the one for user ana.
func forgeries(t *testing.T, key *rsa.PrivateKey) map[string]string {
	t.Helper()
	other := newKey(t)
	return map[string]string{
		"no token":             "",
		"garbage":              "x.y.z",
		"another key":          mint(t, other, "ana", nil),
		"expired":              mint(t, key, "ana", func(c *auth.Claims) { c.Expires = time.Now().Add(-time.Hour) }),
		"wrong audience":       mint(t, key, "ana", func(c *auth.Claims) { c.Audience = "somebody else" }),
		"no audience":          mint(t, key, "ana", func(c *auth.Claims) { c.Audience = "" }),
		"wrong issuer":         mint(t, key, "ana", func(c *auth.Claims) { c.Issuer = "https://evil.example" }),
		"not yet valid":        mint(t, key, "ana", func(c *auth.Claims) { c.NotBefore = time.Now().Add(time.Hour) }),
		"algorithm confusion":  mint(t, config.Secret(publicPEM(t, key)), "ana", nil), // HS256 keyed with the public key
		"algorithm none":       "eyJhbGciOiJub25lIn0." + strings.Split(mint(t, key, "ana", nil), ".")[1] + ".",
		"the token of another": mint(t, key, "bob", nil),
	}
}

func TestRESTBelievesTheTokenOnly(t *testing.T) {
	t.Parallel()
	c, key := start(t)
	g := c.Gateways[0]
	get := func(path, token string, header http.Header) cluster.Response {
		h := header.Clone()
		if h == nil {
			h = http.Header{}
		}
		if token != "" {
			h.Set("Authorization", "Bearer "+token)
		}
		return g.Do(t, http.MethodGet, path, "", "", h)
	}
	good := mint(t, key, "ana", nil)
	if r := get("/api/node/devices", good, nil); r.Status != 200 {
		t.Errorf("a good token: %d %s", r.Status, r.Raw)
	}
	if r := get("/api/node/devices?user_id=ana", good, nil); r.Status != 200 {
		t.Errorf("a good token and its own user: %d %s", r.Status, r.Raw)
	}
	for name, token := range forgeries(t, key) {
		r := get("/api/node/devices?user_id=ana", token, nil)
		want := http.StatusUnauthorized
		if name == "the token of another" {
			want = http.StatusForbidden
		}
		if r.Status != want || r.Type != "application/problem+json" || r.Body["success"] != false {
			t.Errorf("%s: %d %s %s", name, r.Status, r.Type, r.Raw)
		}
		if token != "" && strings.Contains(r.Raw, token) {
			t.Errorf("%s: the answer repeats the token", name)
		}
	}
	if r := get("/api/node/stats", "", nil); r.Status != http.StatusUnauthorized {
		t.Errorf("statistics without a token: %d", r.Status)
	}
	for _, open := range []string{"/", "/health"} {
		if r := get(open, "", nil); r.Status != 200 {
			t.Errorf("%s without a token: %d", open, r.Status)
		}
	}
	if r := get("/api/node/devices", good, http.Header{"Origin": {"https://evil.example"}}); r.Status != http.StatusForbidden {
		t.Errorf("a forged origin: %d", r.Status)
	}
	if r := get("/api/node/devices", good, http.Header{"Origin": {"https://app.example.org"}}); r.Status != 200 {
		t.Errorf("an allowed origin: %d %s", r.Status, r.Raw)
	}
}

func TestSocketsBelieveTheTokenOnly(t *testing.T) {
	t.Parallel()
	c, key := start(t)
	g := c.Gateways[0]
	good := mint(t, key, "ana", nil)
	for path, query := range sockets {
		for name, opts := range map[string]*websocket.DialOptions{
			"header":      {HTTPHeader: http.Header{"Authorization": {"Bearer " + good}}},
			"subprotocol": {Subprotocols: []string{"zeus", "bearer." + good}},
		} {
			ws, err := g.TryDial(t, path, query, opts)
			if err != nil {
				t.Fatalf("%s by %s: %v", path, name, err)
			}
			ws.Silent()
			ws.Cut()
		}
		query := url.Values{"token": {good}, "client_id": query["client_id"], "user_id": query["user_id"]}
		g.Dial(t, path, query).Silent()
		for name, token := range forgeries(t, key) {
			ws, err := g.TryDial(t, path, sockets[path], &websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer " + token}}})
			if err != nil {
				t.Errorf("%s, %s: refused before a close code could say why: %v", path, name, err)
				continue
			}
			if code := ws.Ended(); code != 4003 {
				t.Errorf("%s, %s: closed with %d", path, name, code)
			}
		}
	}
}

func TestSocketsFromForeignPagesAreRefused(t *testing.T) {
	t.Parallel()
	c, key := start(t)
	query := url.Values{"client_id": {"user_ana"}, "token": {mint(t, key, "ana", nil)}}
	for origin, allowed := range map[string]bool{
		extension: true, "https://app.example.org": true,
		"https://evil.example": false, "https://app.example.org.evil.example": false,
		"chrome-extension://ponmlkjihgfedcbaponmlkjihgfedcba": false, "null": false,
	} {
		ws, err := c.Gateways[0].TryDial(t, "/ws/extension", query, &websocket.DialOptions{HTTPHeader: http.Header{"Origin": {origin}}})
		switch {
		case allowed && err != nil:
			t.Errorf("%s: %v", origin, err)
		case allowed:
			ws.Cut()
		case err == nil || !strings.Contains(err.Error(), "403"):
			t.Errorf("%s: %v", origin, err)
		}
	}
}

func TestInTrustedModeARequestNamesOneUser(t *testing.T) {
	t.Parallel()
	g := cluster.Start(t, cluster.Options{Gateways: 1}).Gateways[0]
	if r := g.Do(t, http.MethodGet, "/api/node/devices?user_id=bob", "ana", "", nil); r.Status != 400 {
		t.Errorf("two users in one request: %d", r.Status)
	}
	if r := g.Get(t, "/api/node/devices", ""); r.Status != 400 || !strings.Contains(r.Raw, "user_id") {
		t.Errorf("no user: %d %s", r.Status, r.Raw)
	}
}

func TestUsersDoNotSeeEachOther(t *testing.T) {
	t.Parallel()
	c, key := start(t)
	g := c.Gateways[0]
	g.Dial(t, "/ws/desktop", url.Values{"client_id": {"desktop_ana"}, "node_id": {"d"}, "token": {mint(t, key, "ana", nil)}}).Silent()
	bob := http.Header{"Authorization": {"Bearer " + mint(t, key, "bob", nil)}}
	r := c.Gateways[1].Do(t, http.MethodPost, "/api/node/desktop/tool", "", `{"tool_name":"x","node_id":"d"}`, bob)
	if r.Status != http.StatusConflict || r.Body["reason"] != "NODE_NOT_CONNECTED" {
		t.Errorf("bob called ana's node: %d %s", r.Status, r.Raw)
	}
	if r = c.Gateways[1].Do(t, http.MethodGet, "/api/node/devices", "", "", bob); r.Body["total"] != 0.0 {
		t.Errorf("bob sees %s", r.Raw)
	}
	if r = g.Do(t, http.MethodPost, "/api/node/bind", "", `{"session_id":"s","node_id":"d"}`, bob); r.Status != http.StatusNotFound {
		t.Errorf("bob bound ana's node: %d %s", r.Status, r.Raw)
	}
}

// TestPublishedKeysNeedAnAudience: without one, every user of the issuer would be accepted.
func TestPublishedKeysNeedAnAudience(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	c := cluster.Start(t, cluster.Options{Gateways: -1})
	for name, change := range map[string]func(*auth.Config){
		"a public key": func(a *auth.Config) { a.PublicKey = publicPEM(t, key) },
		"JWKS":         func(a *auth.Config) { a.JWKSURL = "https://login.example.org/keys" },
	} {
		cfg := c.GatewayConfig(0)
		cfg.Auth = auth.Config{Mode: auth.JWT}
		change(&cfg.Auth)
		_, err := gateway.New(cfg, gateway.Options{})
		if err == nil || !strings.Contains(err.Error(), "JWT_AUDIENCE: set it") || !strings.Contains(err.Error(), "JWT_ISSUER: set it") {
			t.Errorf("%s without an audience: %v", name, err)
		}
	}
}
