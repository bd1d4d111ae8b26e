package oauth_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool/oauth"
)

// answer is what a provider says to one request.
type answer struct {
	status int // 0 means 200
	header map[string]string
	body   string
}

// provider answers one request after the other, and keeps what it was asked.
type provider struct {
	*httptest.Server
	mu      sync.Mutex
	answers []answer
	asked   []string // "POST /path?query", "Header: value" of those that matter, "", body
}

func newProvider(t *testing.T, answers ...answer) *provider {
	t.Helper()
	p := &provider{answers: answers}
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Close)
	return p
}

func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	lines := r.Method + " " + r.URL.RequestURI() + "\n"
	for _, name := range []string{"Accept", "Authorization", "Content-Type", "Notion-Version", "User-Agent", "X-Github-Api-Version"} {
		if v := r.Header.Get(name); v != "" {
			lines += name + ": " + v + "\n"
		}
	}
	p.asked = append(p.asked, lines+"\n"+string(body))
	a := answer{status: 599, body: "not expected"}
	if len(p.answers) > 0 {
		a, p.answers = p.answers[0], p.answers[1:]
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	for name, value := range a.header {
		w.Header().Set(name, value)
	}
	w.WriteHeader(max(a.status, 200))
	_, _ = io.WriteString(w, a.body)
}

// requests are what it was asked so far.
func (p *provider) requests() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.asked...)
}

// source asks one provider for everything.
func source(t *testing.T, p *provider, saved oauth.Saved) *oauth.Source {
	t.Helper()
	return sourceAt(t, p.URL, saved)
}

func sourceAt(t *testing.T, address string, saved oauth.Saved) *oauth.Source {
	t.Helper()
	var c oauth.Config
	known := oauth.Credentials{ClientID: "the id", ClientSecret: "the secret"}
	c.GitHub.Credentials, c.GitHub.OAuthURL, c.GitHub.APIURL = known, address, address
	c.Google.Credentials, c.Google.AuthURL, c.Google.OAuthURL, c.Google.GmailURL, c.Google.DriveURL = known, address, address, address, address
	c.Slack.Credentials, c.Slack.URL = known, address
	c.Notion.Credentials, c.Notion.URL = known, address
	s, err := oauth.New(oauth.Options{Config: c, Saved: saved})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// all brings a grant for each provider.
func all(expires int64) tool.Scope {
	scope := tool.Scope{User: "ana"}
	for _, name := range []string{"github", "gmail", "google_drive", "slack", "notion"} {
		scope.Requested = append(scope.Requested, &agentv1.ToolSource{Source: &agentv1.ToolSource_Oauth{Oauth: &agentv1.OAuthGrant{
			Provider: name, AccessToken: "T", RefreshToken: "R", ExpiresAt: expires,
		}}})
	}
	return scope
}

func find(t *testing.T, s *oauth.Source, scope tool.Scope, name string) tool.Tool {
	t.Helper()
	listing, err := s.Tools(t.Context(), scope)
	if err != nil {
		t.Fatal(err)
	}
	for _, got := range listing.Tools {
		if got.Spec().Name == name {
			return got
		}
	}
	t.Fatalf("no tool %s", name)
	return nil
}

func call(ctx context.Context, t tool.Tool, args string) (tool.Result, error) {
	return t.Call(ctx, tool.Invocation{User: "ana", CallID: "c", Args: json.RawMessage(args)})
}

// saved keeps ana's grants in memory.
type saved struct {
	mu     sync.Mutex
	grants map[string]*agentv1.OAuthGrant
	fails  error
}

func (s *saved) Grants(_ context.Context, user ids.UserID) ([]*agentv1.OAuthGrant, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if user != "ana" {
		return nil, fmt.Errorf("the store is away")
	}
	var list []*agentv1.OAuthGrant
	for _, g := range s.grants {
		list = append(list, g)
	}
	return list, nil
}

func (s *saved) Rotate(_ context.Context, user ids.UserID, name, old string, token oauth.Token) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if g := s.grants[name]; user == "ana" && g.GetRefreshToken() == old && s.fails == nil {
		s.grants[name] = &agentv1.OAuthGrant{Provider: name, AccessToken: token.Access, RefreshToken: token.Refresh, ExpiresAt: token.Expires.Unix()}
	}
	return s.fails
}
