package oauth_test

import (
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool/oauth"
)

const form = "Accept: application/json\nContent-Type: application/x-www-form-urlencoded\nUser-Agent: hecaton\n"

// The bytes of each provider's exchange, and what its answer becomes.
func TestExchange(t *testing.T) {
	t.Parallel()
	const fields = "client_id=the+id&client_secret=the+secret&code=C&grant_type=authorization_code&redirect_uri=https%3A%2F%2Fapp.example%2Fdone"
	for _, tt := range []struct {
		name, asked, answer string
		want                oauth.Token
		expires             time.Duration
	}{
		{
			"github", "POST /login/oauth/access_token\n" + form + "X-Github-Api-Version: 2022-11-28\n\n" + fields,
			`{"access_token":"A","scope":"repo","token_type":"bearer"}`, oauth.Token{Access: "A"}, 0,
		},
		{
			"gmail", "POST /token\n" + form + "\n" + fields,
			`{"access_token":"A","expires_in":3599,"refresh_token":"R","token_type":"Bearer"}`, oauth.Token{Access: "A", Refresh: "R"}, 3599 * time.Second,
		},
		{"google_drive", "POST /token\n" + form + "\n" + fields, `{"access_token":"A"}`, oauth.Token{Access: "A"}, 0},
		{
			"slack", "POST /api/oauth.v2.access\n" + form + "\n" + fields,
			`{"ok":true,"access_token":"xoxb-1","token_type":"bot","expires_in":43200,"refresh_token":"xoxe-1"}`,
			oauth.Token{Access: "xoxb-1", Refresh: "xoxe-1"}, 12 * time.Hour,
		},
		{
			"slack", "POST /api/oauth.v2.access\n" + form + "\n" + fields,
			`{"ok":true,"authed_user":{"access_token":"xoxp-1"}}`, oauth.Token{Access: "xoxp-1"}, 0,
		},
		{
			"notion", "POST /v1/oauth/token\nAccept: application/json\nAuthorization: Basic dGhlIGlkOnRoZSBzZWNyZXQ=\nContent-Type: application/json\n" +
				"Notion-Version: 2022-06-28\nUser-Agent: hecaton\n\n" +
				`{"code":"C","grant_type":"authorization_code","redirect_uri":"https://app.example/done"}`,
			`{"access_token":"secret_1","token_type":"bearer","bot_id":"b"}`, oauth.Token{Access: "secret_1"}, 0,
		},
	} {
		p := newProvider(t, answer{body: tt.answer})
		before := time.Now().Truncate(time.Second)
		got, err := source(t, p, nil).Exchange(t.Context(), tt.name, "C", "https://app.example/done", "")
		if err != nil || got.Access != tt.want.Access || got.Refresh != tt.want.Refresh {
			t.Errorf("%s: %+v, %v", tt.name, got, err)
		}
		if left := got.Expires.Sub(before); got.Expires.IsZero() != (tt.expires == 0) || tt.expires != 0 && (left < tt.expires || left > tt.expires+10*time.Second) {
			t.Errorf("%s: expires %v", tt.name, got.Expires)
		}
		if asked := p.requests(); len(asked) != 1 || asked[0] != tt.asked {
			t.Errorf("%s was asked\n%s\nwant\n%s", tt.name, strings.Join(asked, "\n---\n"), tt.asked)
		}
	}
}

func TestExchangeRefused(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		provider string
		answer   answer
		want     errs.Reason
		says     string
	}{
		"github, status 200": {"github", answer{body: `{"error":"bad_verification_code","error_description":"The code passed is incorrect or expired."}`}, errs.InvalidArgument, "bad_verification_code"},
		"google":             {"gmail", answer{status: 400, body: `{"error":"invalid_grant"}`}, errs.InvalidArgument, "invalid_grant"},
		"slack, status 200":  {"slack", answer{body: `{"ok":false,"error":"invalid_code"}`}, errs.InvalidArgument, "invalid_code"},
		"notion":             {"notion", answer{status: 401, body: `{"error":"unauthorized"}`}, errs.InvalidArgument, "unauthorized"},
		"no token":           {"github", answer{body: `{}`}, errs.InvalidArgument, "200"},
		"no JSON":            {"github", answer{body: `<html>`}, errs.AgentUnavailable, "200"},
		"broken":             {"github", answer{status: 503}, errs.AgentUnavailable, "503"},
	} {
		p := newProvider(t, tt.answer)
		_, err := source(t, p, nil).Exchange(t.Context(), tt.provider, "C", "https://app.example", "")
		if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.says) || strings.Contains(err.Error(), "the secret") {
			t.Errorf("%s: %v", name, err)
		}
	}
	p := newProvider(t)
	s := source(t, p, nil)
	for _, args := range [][3]string{{"gitlab", "C", "u"}, {"", "C", "u"}, {"github", "", "u"}, {"github", "C", ""}} {
		if _, err := s.Exchange(t.Context(), args[0], args[1], args[2], ""); !errors.Is(err, errs.InvalidArgument) {
			t.Errorf("%q: %v", args, err)
		}
	}
	var c oauth.Config
	c.GitHub.OAuthURL, c.GitHub.APIURL, c.Slack.URL, c.Notion.URL = p.URL, p.URL, p.URL, p.URL
	c.Google.AuthURL, c.Google.OAuthURL, c.Google.GmailURL, c.Google.DriveURL = p.URL, p.URL, p.URL, p.URL
	unknown, err := oauth.New(oauth.Options{Config: c})
	if err != nil {
		t.Fatal(err)
	}
	defer unknown.Close()
	if _, err := unknown.Exchange(t.Context(), "gmail", "C", "u", ""); !errors.Is(err, errs.InvalidArgument) || !strings.Contains(err.Error(), "GOOGLE_CLIENT_ID") {
		t.Errorf("without credentials: %v", err)
	}
	if len(p.requests()) != 0 {
		t.Error("it was asked nevertheless")
	}
	nobody, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = nobody.Close()
	if _, err := sourceAt(t, "http://"+nobody.Addr().String(), nil).Exchange(t.Context(), "gmail", "C", "u", ""); !errors.Is(err, errs.AgentUnavailable) {
		t.Errorf("nobody there: %v", err)
	}
	if _, err := oauth.New(oauth.Options{}); err == nil {
		t.Error("no address is taken for one")
	}
}
