package agentapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
)

// wantJSON checks a body whole.
func wantJSON(t *testing.T, resp answer, want string) {
	t.Helper()
	body, err := io.ReadAll(resp.Body)
	var got, wanted bytes.Buffer
	if err = errors.Join(err, json.Compact(&got, body), json.Compact(&wanted, []byte(want))); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "application/json" || got.String() != wanted.String() {
		t.Errorf("%s, %s:\n%s, want\n%s", resp.Status, resp.Header.Get("Content-Type"), &got, &wanted)
	}
}

// An id is what is between two slashes, decoded once.
func TestSessionIDsAreOpaque(t *testing.T) {
	t.Parallel()
	g := startGateway(t, nil, startPod(t, &script{
		session: func(_ context.Context, req *agentv1.GetSessionRequest) (*agentv1.GetSessionResponse, error) {
			return nil, errs.New(errs.SessionNotFound, "%s", req.GetSessionId())
		},
		cancel: func(_ context.Context, req *agentv1.CancelRunRequest) (*agentv1.CancelRunResponse, error) {
			return nil, errs.New(errs.SessionNotFound, "%s", req.GetSessionId())
		},
	}))
	for path, id := range map[string]string{
		"a": "a", "a%2Fb": "a/b", "a%2fb": "a/b", "a%252Fb": "a%2Fb", "a%2541": "a%41", "a:b": "a:b", "a%3Ab": "a:b", "%2E%2E": "..",
		"100%25": "100%", "%C3%A9%20%3F%23": "é ?#", "cancel": "cancel", "a+b": "a+b", "%2F": "/", "messages": "messages",
	} {
		if got := wantProblem(t, g.do(t, "GET", "/api/agent/sessions/"+path, ""), 404, "SESSION_NOT_FOUND"); got != id {
			t.Errorf("%s became %q", path, got)
		}
		if got := wantProblem(t, g.do(t, "POST", "/api/agent/sessions/"+path+"/cancel", ""), 404, "SESSION_NOT_FOUND"); got != id {
			t.Errorf("%s became %q", path, got)
		}
	}
}

func TestSessions(t *testing.T) {
	t.Parallel()
	at := &timestamppb.Timestamp{Seconds: 1}
	idle := &agentv1.Session{SessionId: "a", Status: "idle", LastSeq: 1 << 40, CreatedAt: at, UpdatedAt: at}
	waits := &agentv1.Session{SessionId: "b", CreatedAt: at, UpdatedAt: at, Interrupt: &agentv1.Interrupt{
		InterruptId: "i", Reason: "approval", ToolCalls: []*agentv1.PendingCall{{ToolCallId: "c", ToolArgsJson: []byte(`{"x":1}`), ExpiresAt: at}},
	}}
	g := startGateway(t, nil, startPod(t, &script{
		sessions: func(_ context.Context, req *agentv1.ListSessionsRequest) (*agentv1.ListSessionsResponse, error) {
			if req.GetLimit() != 2 {
				return &agentv1.ListSessionsResponse{}, nil
			}
			return &agentv1.ListSessionsResponse{Sessions: []*agentv1.Session{idle, waits}, NextCursor: "n"}, nil
		},
		session: func(context.Context, *agentv1.GetSessionRequest) (*agentv1.GetSessionResponse, error) {
			return &agentv1.GetSessionResponse{Session: waits}, nil
		},
	}))
	const first = `{"session_id":"a","title":"","status":"idle","mode":"","run_id":"","finish_reason":"","last_seq":1099511627776,` +
		`"created_at":"1970-01-01T00:00:01Z","updated_at":"1970-01-01T00:00:01Z","interrupt":null}`
	const second = `{"created_at":"1970-01-01T00:00:01Z","finish_reason":"",` +
		`"interrupt":{"type":"interrupt","interrupt_id":"i","reason":"approval","tool_calls":[{"tool_call_id":"c","tool_name":"","tool_args":{"x":1},"node_id":"","digest":"","expires_at":"1970-01-01T00:00:01Z"}]},` +
		`"last_seq":0,"mode":"","run_id":"","session_id":"b","status":"","title":"","updated_at":"1970-01-01T00:00:01Z"}`
	wantJSON(t, g.do(t, "GET", "/api/agent/sessions?limit=2", ""), `{"next_cursor":"n","sessions":[`+first+`,`+second+`]}`)
	wantJSON(t, g.do(t, "GET", "/api/agent/sessions", ""), `{"next_cursor":"","sessions":[]}`)
	wantJSON(t, g.do(t, "GET", "/api/agent/sessions/b", ""), second)
	if got := wantProblem(t, g.do(t, "GET", "/api/agent/sessions?limit=many", ""), 400, ""); !strings.Contains(got, "limit") {
		t.Errorf("it says %q", got)
	}
	wantProblem(t, g.do(t, "PATCH", "/api/agent/sessions/b", ""), 405, "")
	wantProblem(t, g.do(t, "GET", "/api/agent/sessions/b/unknown", ""), 404, "")
}

func TestGeneratedREST(t *testing.T) {
	t.Parallel()
	g := startGateway(t, nil, startPod(t, &script{
		settings: func(_ context.Context, req *agentv1.UpdateApprovalSettingsRequest) (*agentv1.UpdateApprovalSettingsResponse, error) {
			return &agentv1.UpdateApprovalSettingsResponse{Settings: req.GetSettings()}, nil
		},
		create: func(_ context.Context, req *agentv1.CreateToolRequest) (*agentv1.CreateToolResponse, error) {
			return nil, errs.New(errs.NameTaken, "%s", req.GetTool().GetName())
		},
		call: func(_ context.Context, req *agentv1.CallToolRequest) (*agentv1.CallToolResponse, error) {
			return &agentv1.CallToolResponse{Success: true, ResultJson: req.GetToolArgsJson()}, nil
		},
	}))
	const settings = "/api/agent/approval-settings"
	wantJSON(t, g.do(t, "PUT", settings, `{"mode":"use_allowlist","allowlist":["a"],"later":true}`), `{"mode":"use_allowlist","allowlist":["a"],"allowed":[]}`)
	wantJSON(t, g.do(t, "PUT", settings, `{"mode":"use_allowlist"}`), `{"mode":"use_allowlist","allowlist":[],"allowed":[]}`)
	wantJSON(t, g.do(t, "PUT", settings, `{"allowlist":["a",{"layer":"mcp","source":"notes","tool":"find","new":1},"b"],"allowed":[{"layer":"oauth","source":"github","tool":"c"}]}`),
		`{"mode":"","allowlist":["a","b"],"allowed":[{"layer":"mcp","source":"notes","tool":"find","fingerprint":""},{"layer":"oauth","source":"github","tool":"c","fingerprint":""}]}`)
	wantJSON(t, g.do(t, "POST", "/api/tools/call", `{"tool_name":"x","tool_args":{"a":[1]}}`), `{"success":true,"result":{"a":[1]},"error":""}`)
	if got := wantProblem(t, g.do(t, "POST", "/api/tools", `{"name":"n"}`), 409, "NAME_TAKEN"); got != "n" {
		t.Errorf("it says %q", got)
	}
	for body, says := range map[string]string{`{"mode":1}`: "mode", `{"allowlist":"a"}`: "allowlist", `{"allowlist":[1]}`: "allowlist", `{"allowlist":[{"tool":1}]}`: "tool", `{"allowlist":[{}],"allowed":1}`: "allow", `[]`: "", `{"mode":"x"}}`: "JSON", `{`: "JSON"} {
		if got := wantProblem(t, g.do(t, "PUT", settings, body), 400, ""); !strings.Contains(got, says) || strings.Contains(got, "proto") {
			t.Errorf("%s: it says %q", body, got)
		}
	}
	for body, says := range map[string]string{
		"{\n\"name\":\"é\", \"args\":[\"a\",{\"b\":1}]}": "args[1] has",
		`{"x":[1,{"y":[]}],"é":{},"headers":[]}`:         "headers has",
		`{"headers":{"a":"b","c":{}}}`:                   "headers.c has",
		`{"enabled":"no"}`:                               "enabled has",
		`{"expires_at":"soon"}`:                          "expires_at has",
	} {
		if got := wantProblem(t, g.do(t, "POST", "/api/tools", body), 400, ""); !strings.HasPrefix(got, says) {
			t.Errorf("%s: it says %q", body, got)
		}
	}
	wantProblem(t, g.do(t, "PUT", settings, `{"mode":"`+strings.Repeat("x", 1<<20)+`"}`), 413, "TOO_LARGE")
	// No header makes one request another.
	wantProblem(t, g.do(t, "POST", settings, "", "X-HTTP-Method-Override", "GET", "Content-Type", "application/x-www-form-urlencoded"), 405, "")
}

// The exchange of a code is its user's, as all under /api/tools.
func TestExchange(t *testing.T) {
	t.Parallel()
	token, expires := "t", 1.5e9
	g := startGateway(t, withJWT, startPod(t, &script{
		exchange: func(ctx context.Context, req *agentv1.ExchangeOAuthRequest) (*agentv1.ExchangeOAuthResponse, error) {
			if user, err := auth.BehalfOf(ctx); err != nil || user != "ana" {
				t.Errorf("it asks for %q, %v", user, err)
			}
			if req.GetProvider() == "notion" {
				return &agentv1.ExchangeOAuthResponse{AccessToken: "a", TokenType: "Bearer"}, nil
			}
			return &agentv1.ExchangeOAuthResponse{AccessToken: "a", RefreshToken: &token, ExpiresAt: &expires, TokenType: "Bearer"}, nil
		},
	}))
	const exchange = "/api/tools/oauth/exchange"
	wantJSON(t, g.do(t, "POST", exchange, `{"provider":"notion"}`, "X-User-Id", "", "Authorization", bearer(t, "ana")),
		`{"access_token":"a","refresh_token":null,"expires_at":null,"token_type":"Bearer"}`)
	wantJSON(t, g.do(t, "POST", exchange, `{"provider":"gmail"}`, "X-User-Id", "", "Authorization", bearer(t, "ana"), "Grpc-Metadata-Hecaton-User-Bin", "Ym9i"),
		`{"access_token":"a","refresh_token":"t","expires_at":1500000000,"token_type":"Bearer"}`)
	for _, path := range []string{exchange, "/api/tools/oauth/authorize", "/api/tools/call", "/api/tools/mcp/validate", "/api/tools", "/api/tools/oauth%2Fexchange"} {
		wantProblem(t, g.do(t, "POST", path, "{}", "X-User-Id", ""), 401, "")
		wantProblem(t, g.do(t, "POST", path, "{}", "X-User-Id", "", "Authorization", "Basic x", "Grpc-Metadata-Hecaton-User-Bin", "Ym9i"), 401, "")
	}
}

func TestFiles(t *testing.T) {
	t.Parallel()
	var kept bytes.Buffer
	var meta *agentv1.File
	g := startGateway(t, nil, startPod(t, &script{
		put: func(s grpc.ClientStreamingServer[agentv1.PutFileRequest, agentv1.PutFileResponse]) error {
			kept.Reset()
			for {
				part, err := s.Recv()
				if errors.Is(err, io.EOF) {
					meta.Size, meta.Etag, meta.UpdatedAt = float64(kept.Len()), "v1", &timestamppb.Timestamp{Seconds: 1}
					return s.SendAndClose(&agentv1.PutFileResponse{File: meta})
				}
				if err != nil {
					return err
				}
				if part.GetFile() != nil {
					meta = part.GetFile()
				}
				if kept.Write(part.GetData()); kept.Len() > 1<<20 {
					return errs.New(errs.FileTooLarge, "at most 1 MiB")
				}
			}
		},
		get: func(req *agentv1.GetFileRequest, s grpc.ServerStreamingServer[agentv1.GetFileResponse]) error {
			if req.GetPath() != meta.GetPath() {
				return errs.New(errs.FileNotFound, "%s", req.GetPath())
			}
			_ = s.Send(&agentv1.GetFileResponse{Part: &agentv1.GetFileResponse_File{File: meta}})
			for part := range slices.Chunk(kept.Bytes(), 1000) {
				_ = s.Send(&agentv1.GetFileResponse{Part: &agentv1.GetFileResponse_Data{Data: part}})
			}
			return nil
		},
		remove: func(_ context.Context, req *agentv1.DeleteFileRequest) (*agentv1.DeleteFileResponse, error) {
			return &agentv1.DeleteFileResponse{Success: req.GetPath() == meta.GetPath()}, nil
		},
	}))
	const path = "/api/workspace/files/uploads/a%20%23%2Fb.html"
	content := strings.Repeat("<script>alert(1)</script>", 10_000)
	wantJSON(t, g.do(t, "PUT", path, content, "Content-Type", "text/html"),
		`{"path":"uploads/a #/b.html","size":250000,"content_type":"text/html","updated_at":"1970-01-01T00:00:01Z","etag":"v1"}`)
	resp := g.do(t, "GET", path, "")
	body, err := io.ReadAll(resp.Body)
	if err != nil || string(body) != content {
		t.Errorf("%v, %d bytes", err, len(body))
	}
	head := g.do(t, "HEAD", path, "")
	for name, want := range map[string]string{
		"Content-Type": "text/html", "Etag": `"v1"`, "Content-Length": "250000", "X-Content-Type-Options": "nosniff",
		"Content-Disposition": "attachment; filename=b.html", "Content-Security-Policy": "sandbox", "Last-Modified": "Thu, 01 Jan 1970 00:00:01 GMT",
	} {
		if resp.Header.Get(name) != want || head.Header.Get(name) != want {
			t.Errorf("%s: %q, HEAD %q", name, resp.Header.Get(name), head.Header.Get(name))
		}
	}
	if resp := g.do(t, "GET", path, "", "If-None-Match", `"v0", W/"v1"`); resp.StatusCode != http.StatusNotModified {
		t.Error(resp.Status)
	}
	wantProblem(t, g.do(t, "GET", "/api/workspace/files/other", ""), 404, "FILE_NOT_FOUND")
	wantJSON(t, g.do(t, "DELETE", path, ""), `{"success":true}`)
	wantProblem(t, g.do(t, "PUT", path, strings.Repeat("x", 2<<20)), 413, "FILE_TOO_LARGE")
}
