package oauth_test

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/oauth2"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool/oauth"
)

// known returns a source that all providers know, whose users may come back to these pages.
func known(t *testing.T, pages ...string) *oauth.Source {
	t.Helper()
	var c oauth.Config
	if err := config.Defaults(&c); err != nil {
		t.Fatal(err)
	}
	for _, creds := range []*oauth.Credentials{&c.GitHub.Credentials, &c.Google.Credentials, &c.Slack.Credentials, &c.Notion.Credentials} {
		*creds = oauth.Credentials{ClientID: "the id", ClientSecret: "the secret"}
	}
	c.RedirectURIs = pages
	s, err := oauth.New(oauth.Options{Config: c})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// Where each provider's users are sent, and with what.
func TestAuthorizationURL(t *testing.T) {
	t.Parallel()
	s := known(t)
	for name, tt := range map[string]struct {
		where string
		also  url.Values
		pkce  bool
	}{
		"github":       {"https://github.com/login/oauth/authorize", url.Values{"scope": {"repo"}}, true},
		"gmail":        {"https://accounts.google.com/o/oauth2/v2/auth", url.Values{"access_type": {"offline"}, "prompt": {"consent"}}, true},
		"google_drive": {"https://accounts.google.com/o/oauth2/v2/auth", url.Values{"scope": {"https://www.googleapis.com/auth/drive"}}, true},
		"slack":        {"https://slack.com/oauth/v2/authorize", url.Values{"scope": {"channels:read groups:read channels:history groups:history chat:write"}}, false},
		"notion":       {"https://api.notion.com/v1/oauth/authorize", url.Values{"owner": {"user"}}, false},
	} {
		verifier := s.NewVerifier(name)
		if (verifier != "") != tt.pkce || verifier != "" && verifier == s.NewVerifier(name) {
			t.Errorf("%s: verifier %q", name, verifier)
		}
		raw, err := s.AuthorizationURL(name, "https://app.example/done", "the state", verifier, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		where, query, _ := strings.Cut(raw, "?")
		got, err := url.ParseQuery(query)
		want := url.Values{"client_id": {"the id"}, "response_type": {"code"}, "redirect_uri": {"https://app.example/done"}, "state": {"the state"}}
		if tt.pkce {
			want.Set("code_challenge", oauth2.S256ChallengeFromVerifier(verifier))
			want.Set("code_challenge_method", "S256")
		}
		for key, value := range tt.also {
			want[key] = value
		}
		for key := range want {
			if got.Get(key) != want.Get(key) {
				t.Errorf("%s: %s is %q, want %q", name, key, got.Get(key), want.Get(key))
			}
		}
		if err != nil || where != tt.where || strings.Contains(raw, "secret") || verifier != "" && strings.Contains(raw, verifier) {
			t.Errorf("%s: %s, %v", name, raw, err)
		}
	}
	asked, err := s.AuthorizationURL("github", "u", "s", "", []string{"read:user", "gist"})
	if err != nil || !strings.Contains(asked, "scope=read%3Auser+gist") {
		t.Errorf("%s, %v", asked, err)
	}
	if _, err := s.AuthorizationURL("github", "u", "s", "", []string{strings.Repeat("x", 5000)}); !errors.Is(err, errs.InvalidArgument) {
		t.Errorf("scopes without end: %v", err)
	}
	if _, err := s.AuthorizationURL("gitlab", "u", "s", "", nil); !errors.Is(err, errs.InvalidArgument) {
		t.Errorf("a provider that is none: %v", err)
	}
}

func TestRedirectURIs(t *testing.T) {
	t.Parallel()
	s := known(t, "https://app.example/done?x=1", "http://127.0.0.1/done", "http://[::1]:7000/done")
	for page, allowed := range map[string]bool{
		"https://app.example/done?x=1": true, "http://127.0.0.1/done": true, "http://127.0.0.1:4711/done": true, "http://[::1]:1/done": true,
		"": false, "https://app.example/done": false, "https://app.example/done?x=1&y": false, "https://app.example:443/done?x=1": false,
		"https://app.example/done?x=1#f": false, "http://app.example/done?x=1": false, "https://APP.example/done?x=1": false,
		"https://app.example/done/../done?x=1": false, "https://app.example@evil.example/done?x=1": false,
		"http://127.0.0.1:4711/other": false, "https://127.0.0.1/done": false, "http://127.0.0.2/done": false, "http://localhost/done": false,
		"http://evil@127.0.0.1/done": false, "http://127.0.0.1.evil.example/done": false, "http://127.0.0.1:80@evil.example/done": false, "%": false,
	} {
		if err := s.CheckRedirect(page); (err == nil) != allowed {
			t.Errorf("%q: %v", page, err)
		}
	}
	if err := known(t).CheckRedirect("https://app.example"); err == nil {
		t.Error("where no page is configured one is allowed")
	}
	for _, page := range []string{"app.example", "/done", "http://app.example", "http://localhost/done", "https://*.app.example", "https://app.example#f", "javascript:alert(1)", "https://u@app.example"} {
		if err := (oauth.Config{RedirectURIs: []string{page}}).Validate(); err == nil || !strings.Contains(err.Error(), "OAUTH_REDIRECT_URIS") {
			t.Errorf("%q: %v", page, err)
		}
	}
}
