package oauth_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool/oauth"
)

// What a status means to the agent. Nothing but a 401 is asked again, and that only with another token.
func TestStatuses(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		tool, args string
		answers    []answer
		text       string // of a result with IsError; else of the failure
		outcome    string
		asked      int
	}{
		"over":        {"github_list_repositories", `{}`, []answer{{status: 401}, {status: 400, body: `{"error":"invalid_grant"}`}}, "authorization at GitHub is over", "", 2},
		"over, slack": {"slack_history", `{"channel":"C1"}`, []answer{{body: `{"ok":false,"error":"token_revoked"}`}}, "authorization at Slack is over", "", 1},
		"slack says":  {"slack_history", `{"channel":"C1"}`, []answer{{body: `{"ok":false,"error":"channel_not_found"}`}}, "channel_not_found", "", 1},
		"too many":    {"notion_search", `{"query":"x"}`, []answer{{status: 429, header: map[string]string{"Retry-After": "7"}}}, "Try again in 7 s", "", 1},
		"github rate": {"github_list_repositories", `{}`, []answer{{status: 403, header: map[string]string{"X-RateLimit-Remaining": "0"}}}, "rate limit", "", 1},
		"forbidden":   {"github_list_repositories", `{}`, []answer{{status: 403, body: `{"message":"Resource not accessible"}`}}, "Resource not accessible", "", 1},
		"google":      {"gmail_get_message", `{"id":"1"}`, []answer{{status: 404, body: `{"error":{"code":404,"message":"Not Found"}}`}}, "Not Found", "", 1},
		"broken read": {"gmail_get_message", `{"id":"1"}`, []answer{{status: 503}}, "503", "", 1},
		"broken":      {"github_comment", `{"owner":"o","repo":"r","number":1,"body":"b"}`, []answer{{status: 502}}, "may have run", tool.Unknown, 1},
		"no JSON":     {"github_list_repositories", `{}`, []answer{{body: `<html>`}}, "cannot be read", "", 1},
		"huge":        {"github_list_repositories", `{}`, []answer{{body: strings.Repeat(" ", 17<<20)}}, "16 MiB", "", 1},
		"elsewhere":   {"github_list_issues", `{"owner":"..","repo":"user"}`, nil, "identifier", tool.Invalid, 0},
		"nothing":     {"github_list_issues", `{"owner":"","repo":"user"}`, nil, "identifier", tool.Invalid, 0},
		"missing":     {"github_list_issues", `{"owner":"o"}`, nil, "arguments.repo", tool.Invalid, 0},
		"wrong type":  {"github_comment", `{"owner":"o","repo":"r","number":"1","body":"b"}`, nil, "arguments.number", tool.Invalid, 0},
		"no address":  {"gmail_send_message", `{"to":"x\r\nBcc: evil@example.com","subject":"s","body":"b"}`, nil, "arguments.to", tool.Invalid, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProvider(t, tt.answers...)
			got, err := call(t.Context(), find(t, source(t, p, nil), all(0), tt.tool), tt.args)
			var f *tool.Failure
			switch {
			case tt.outcome == "" && (err != nil || !got.IsError || !strings.Contains(got.Text, tt.text)):
				t.Errorf("%.200s, %v", got.Text, err)
			case tt.outcome != "" && (!errors.As(err, &f) || f.Outcome != tt.outcome || !strings.Contains(f.Message, tt.text)):
				t.Errorf("%+v, %v", got, err)
			}
			if n := len(p.requests()); n != tt.asked {
				t.Errorf("asked %d times", n)
			}
		})
	}
}

func TestLost(t *testing.T) {
	t.Parallel()
	cuts := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	t.Cleanup(cuts.Close)
	nobody, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = nobody.Close()
	arrived := make(chan struct{})
	free := make(chan struct{})
	hangs := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		close(arrived)
		<-free
	}))
	t.Cleanup(hangs.Close)
	t.Cleanup(func() { close(free) })
	given, give := context.WithCancel(t.Context())
	go func() {
		<-arrived
		give()
	}()
	for name, tt := range map[string]struct {
		ctx              context.Context
		address, outcome string
	}{
		"cut":      {t.Context(), cuts.URL, tool.Unknown},
		"nobody":   {t.Context(), "http://" + nobody.Addr().String(), tool.NotDelivered},
		"given up": {given, hangs.URL, tool.Unknown},
	} {
		_, err := call(tt.ctx, find(t, sourceAt(t, tt.address, nil), all(0), "slack_post_message"), `{"channel":"C1","text":"hi"}`)
		var f *tool.Failure
		if !errors.As(err, &f) || f.Outcome != tt.outcome {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func grants(expires int64) *saved {
	return &saved{grants: map[string]*agentv1.OAuthGrant{"gmail": {Provider: "gmail", AccessToken: "old", RefreshToken: "R1", ExpiresAt: expires}}}
}

// An expired token is refreshed before the call, and kept for the next run.
func TestRefresh(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		expires int64
		answers []answer
	}{
		"expired": {time.Now().Add(-time.Hour).Unix(), nil},
		"refused": {0, []answer{{status: 401}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProvider(t, append(tt.answers, answer{body: `{"access_token":"new","expires_in":3600}`}, answer{body: `{"id":"1"}`}, answer{body: `{"id":"2"}`})...)
			keep := grants(tt.expires)
			get := find(t, source(t, p, keep), tool.Scope{User: "ana"}, "gmail_get_message")
			for _, id := range []string{"1", "2"} {
				if got, err := call(t.Context(), get, `{"id":"`+id+`"}`); err != nil || got.IsError {
					t.Errorf("%+v, %v", got, err)
				}
			}
			asked := p.requests()[len(tt.answers):]
			if len(asked) != 3 || !strings.HasSuffix(asked[0], "client_id=the+id&client_secret=the+secret&grant_type=refresh_token&refresh_token=R1") ||
				!strings.Contains(asked[1], "Bearer new") || !strings.Contains(asked[2], "Bearer new") {
				t.Errorf("asked %q", asked)
			}
			if g := keep.grants["gmail"]; g.GetAccessToken() != "new" || g.GetRefreshToken() != "R1" || g.GetExpiresAt() < time.Now().Unix() {
				t.Errorf("kept %v", g)
			}
		})
	}
}

// Another pod was faster: its token is taken.
func TestRefreshedElsewhere(t *testing.T) {
	t.Parallel()
	p := newProvider(t, answer{status: 400, body: `{"error":"invalid_grant"}`}, answer{body: `{"id":"1"}`})
	keep := grants(1)
	get := find(t, source(t, p, keep), tool.Scope{User: "ana"}, "gmail_get_message")
	if err := keep.Rotate(t.Context(), "ana", "gmail", "R1", oauth.Token{Access: "theirs", Refresh: "R2", Expires: time.Now().Add(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	if got, err := call(t.Context(), get, `{"id":"1"}`); err != nil || got.IsError || !strings.Contains(p.requests()[1], "Bearer theirs") {
		t.Errorf("%+v, %v, asked %q", got, err, p.requests())
	}
}

// A token that cannot be kept still serves the run that has it.
func TestNotKept(t *testing.T) {
	t.Parallel()
	p := newProvider(t, answer{body: `{"access_token":"new"}`}, answer{body: `{"id":"1"}`})
	keep := grants(1)
	keep.fails = fmt.Errorf("the store is away")
	if got, err := call(t.Context(), find(t, source(t, p, keep), tool.Scope{User: "ana"}, "gmail_get_message"), `{"id":"1"}`); err != nil || got.IsError {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestTools(t *testing.T) {
	t.Parallel()
	s := source(t, newProvider(t), grants(0))
	listing, err := s.Tools(t.Context(), all(0))
	if err != nil {
		t.Fatal(err)
	}
	readOnly := map[string]bool{}
	for _, got := range listing.Tools {
		spec := got.Spec()
		if spec.Layer != tool.OAuth || spec.Category != tool.Service || spec.Description == "" || len(spec.Parameters) == 0 || tool.ModelName(spec) != "oauth__"+spec.Name {
			t.Errorf("%+v", spec)
		}
		if _, twice := readOnly[spec.Name]; twice {
			t.Errorf("%s is there twice", spec.Name)
		}
		readOnly[spec.Name] = spec.ReadOnly
	}
	for _, name := range []string{"github_create_issue", "github_comment", "gmail_send_message", "gmail_create_draft", "google_drive_upload_file", "slack_post_message", "notion_create_page", "notion_append"} {
		if is, there := readOnly[name]; is || !there {
			t.Errorf("%s: there %t, read-only %t", name, there, is)
		}
		delete(readOnly, name)
	}
	for name, is := range readOnly {
		if !is {
			t.Errorf("%s is not read-only", name)
		}
	}
	listing, err = s.Tools(t.Context(), tool.Scope{User: "ana", Requested: []*agentv1.ToolSource{
		{Source: &agentv1.ToolSource_Oauth{Oauth: &agentv1.OAuthGrant{Provider: "gitlab"}}}, {Source: &agentv1.ToolSource_Mcp{Mcp: &agentv1.McpServer{}}},
	}})
	if err != nil || len(listing.Tools) != 4 || len(listing.Problems) != 1 {
		t.Errorf("%d tools, problems %q, %v", len(listing.Tools), listing.Problems, err)
	}
	if _, err := s.Tools(t.Context(), tool.Scope{User: "bob"}); err == nil {
		t.Error("a store that fails goes unnoticed")
	}
}
