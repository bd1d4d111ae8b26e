package identity_test

import (
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	orchestrator "github.com/hecaton-dev/hecaton/services/agent-orchestrator/app"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
	gateway "github.com/hecaton-dev/hecaton/services/gateway/app"
)

// provider is a GitHub that gives a token for each code, once its users have agreed.
type provider struct {
	*httptest.Server
	asked     atomic.Int32
	challenge atomic.Pointer[string] // of the authorization that was agreed to last
}

func newProvider(t *testing.T) *provider {
	p := &provider{}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.asked.Add(1)
		sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
		fits := p.challenge.Load() != nil && *p.challenge.Load() == base64.RawURLEncoding.EncodeToString(sum[:])
		w.Header().Set("Content-Type", "application/json")
		if !fits || r.URL.Path != "/login/oauth/access_token" || r.FormValue("redirect_uri") != "http://127.0.0.1:4711/back" {
			_, _ = io.WriteString(w, `{"error":"bad_verification_code"}`)
			return
		}
		_, _ = io.WriteString(w, `{"access_token":"token-of-github","token_type":"bearer"}`)
	}))
	t.Cleanup(p.Close)
	return p
}

// A code can be exchanged only by the user who began, only once, and only on pages that the operator has configured: not
// everybody may use our secret at the provider.
func TestOAuthExchangeIsNotOpen(t *testing.T) {
	t.Parallel()
	p, key := newProvider(t), newKey(t)
	c := cluster.Start(t, cluster.Options{
		Orchestrators: 2, Paired: true,
		Gateway: func(_ int, c *gateway.Config) {
			c.Auth = auth.Config{Mode: auth.JWT, PublicKey: publicPEM(t, key), Issuer: issuer, Audience: audience}
		},
		Orchestrator: func(_ int, c *orchestrator.Config) {
			c.OAuth.GitHub.ClientID, c.OAuth.GitHub.ClientSecret = "the-client", "the-client-secret"
			c.OAuth.GitHub.OAuthURL = p.URL
			c.OAuth.RedirectURIs = []string{"http://127.0.0.1/back"}
		},
	})
	const back = "http://127.0.0.1:4711/back" // a program of the user's, on whatever port
	begun := post(t, c.Gateways[0], key, "ana", "authorize", map[string]string{"provider": "github", "redirect_uri": back})
	where, err := url.Parse(text(begun.Body["authorization_url"]))
	state := text(begun.Body["state"])
	if err != nil || begun.Status != 200 || state == "" || where.Query().Get("state") != state || where.Query().Get("redirect_uri") != back ||
		where.Query().Get("code_challenge_method") != "S256" || strings.Contains(begun.Raw, "the-client-secret") {
		t.Fatalf("%d %s, %v", begun.Status, begun.Raw, err)
	}
	challenge := where.Query().Get("code_challenge")
	p.challenge.Store(&challenge)

	for name, tt := range map[string]struct {
		user, path string
		body       map[string]string
		status     int
	}{
		"nobody":                 {"", "exchange", map[string]string{"provider": "github", "code": "c", "redirect_uri": back, "state": state}, 401},
		"nobody begins":          {"", "authorize", map[string]string{"provider": "github", "redirect_uri": back}, 401},
		"without a state":        {"bob", "exchange", map[string]string{"provider": "github", "code": "c", "redirect_uri": back}, 400},
		"another's state":        {"bob", "exchange", map[string]string{"provider": "github", "code": "c", "redirect_uri": back, "state": state}, 400},
		"a state of one's own":   {"bob", "exchange", map[string]string{"provider": "github", "code": "c", "redirect_uri": back, "state": state[:len(state)-4] + "AAAA"}, 400},
		"at another provider":    {"ana", "exchange", map[string]string{"provider": "gmail", "code": "c", "state": state}, 400},
		"for another page":       {"ana", "exchange", map[string]string{"provider": "github", "code": "c", "redirect_uri": "https://evil.example", "state": state}, 400},
		"to a page of a thief's": {"ana", "authorize", map[string]string{"provider": "github", "redirect_uri": "https://evil.example"}, 400},
	} {
		if r := post(t, c.Gateways[1], key, tt.user, tt.path, tt.body); r.Status != tt.status || r.Type != "application/problem+json" {
			t.Errorf("%s: %d %s", name, r.Status, r.Raw)
		}
	}
	if n := p.asked.Load(); n != 0 {
		t.Errorf("the provider was asked %d times for what was refused", n)
	}

	ask := map[string]string{"provider": "github", "code": "c", "redirect_uri": back, "state": state}
	if r := post(t, c.Gateways[1], key, "ana", "exchange", ask); r.Status != 200 || r.Body["access_token"] != "token-of-github" {
		t.Errorf("who began, on another pod: %d %s", r.Status, r.Raw)
	}
	for i, g := range c.Gateways {
		if r := post(t, g, key, "ana", "exchange", ask); r.Status != 400 || !strings.Contains(r.Raw, "used before") {
			t.Errorf("again through pod %d: %d %s", i, r.Status, r.Raw)
		}
	}
	// A code that was stolen from another's authorization: the provider knows it by its challenge.
	thief := post(t, c.Gateways[0], key, "bob", "authorize", map[string]string{"provider": "github", "redirect_uri": back})
	ask["state"] = text(thief.Body["state"])
	if r := post(t, c.Gateways[0], key, "bob", "exchange", ask); r.Status != 400 || !strings.Contains(r.Raw, "bad_verification_code") {
		t.Errorf("a stolen code: %d %s", r.Status, r.Raw)
	}
	if n := p.asked.Load(); n != 2 {
		t.Errorf("the provider was asked %d times", n)
	}
}

func post(t *testing.T, g *cluster.Gateway, key *rsa.PrivateKey, user, path string, body map[string]string) cluster.Response {
	t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	header := http.Header{}
	if user != "" {
		header = bearer(mint(t, key, user, nil))
	}
	header.Set("Content-Type", "application/json")
	return g.Do(t, http.MethodPost, "/api/tools/oauth/"+path, "", string(raw), header)
}

func text(v any) string {
	s, _ := v.(string)
	return s
}
