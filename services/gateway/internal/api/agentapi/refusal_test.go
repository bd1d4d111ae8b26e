package agentapi_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
)

// wantProblem checks an answer's status and reason, and returns its message.
func wantProblem(t *testing.T, resp answer, code int, reason string) string {
	t.Helper()
	var p struct {
		Success *bool
		Status  int
		Reason  string
		Error   string
		Type    string
	}
	if err := json.NewDecoder(resp.Body).Decode(&p); err != nil || resp.Header.Get("Content-Type") != "application/problem+json" {
		t.Fatalf("%s, %s: %v", resp.Status, resp.Header.Get("Content-Type"), err)
	}
	if resp.StatusCode != code || p.Status != code || p.Reason != reason || p.Success == nil || *p.Success || p.Error == "" ||
		(reason != "" && p.Type != "https://hecaton.dev/problems/"+reason) {
		t.Errorf("%s %+v, want %d %s", resp.Status, p, code, reason)
	}
	return p.Error
}

// Every refusal of an orchestrator has its status, on a stream as on the rest.
func TestEveryRefusal(t *testing.T) {
	t.Parallel()
	refusals := map[string]error{}
	for _, r := range errs.Reasons() {
		if r != errs.AgentUnavailable && r != errs.Draining && r != errs.BusUnavailable { // TestLostForGood
			refusals[string(r)] = errs.New(r, "because")
		}
	}
	p := startPod(t, &script{
		invoke: func(_ *pod, req *agentv1.InvokeRequest, _ grpc.ServerStreamingServer[agentv1.InvokeResponse]) error {
			return refusals[req.GetMessage()]
		},
		call: func(_ context.Context, req *agentv1.CallToolRequest) (*agentv1.CallToolResponse, error) {
			return nil, refusals[req.GetToolName()]
		},
	})
	g := startGateway(t, nil, p)
	for reason := range refusals {
		code := errs.Reason(reason).HTTPStatus()
		for path, body := range map[string]string{"/api/agent/invoke": `{"message":"` + reason + `"}`, "/api/tools/call": `{"tool_name":"` + reason + `"}`} {
			if got := wantProblem(t, g.do(t, "POST", path, body), code, reason); got != "because" {
				t.Errorf("%s: it says %q", reason, got)
			}
		}
	}
}

// What is nobody's fault but ours says nothing of what it was.
func TestInternalErrorsAreHidden(t *testing.T) {
	t.Parallel()
	p := startPod(t, &script{invoke: func(*pod, *agentv1.InvokeRequest, grpc.ServerStreamingServer[agentv1.InvokeResponse]) error {
		return status.Error(codes.Internal, "dial tcp 10.0.0.7:5432: password wrong")
	}})
	g := startGateway(t, nil, p)
	if got := wantProblem(t, g.do(t, "POST", "/api/agent/invoke", hello), 500, ""); got != "internal error" {
		t.Errorf("it says %q", got)
	}
}

func TestBadRequests(t *testing.T) {
	t.Parallel()
	g := startGateway(t, nil, startPod(t, &script{}))
	for body, says := range map[string]string{
		``:                                 "JSON",
		`{`:                                "JSON",
		`{"message":"x"} y`:                "JSON",
		`[]`:                               "must be a JSON object",
		`null`:                             "must be a JSON object",
		`{}`:                               "message is required",
		`{"message":""}`:                   "message is required",
		`{"message":1}`:                    "message must be a string",
		`{"message":"x","llm_config":"y"}`: "llm_config must be an object",
		`{"message":"x","llm_config":{"apiKey":1}}`:                              "llm_config.apiKey must be a string",
		`{"message":"x","llm_config":{"base_url":1}}`:                            "llm_config.base_url must be a string",
		`{"message":"x","llm_config":{"temperature":"0"}}`:                       "llm_config.temperature must be a number",
		`{"message":"x","session_id":{}}`:                                        "session_id must be a string",
		`{"message":"x","session_id":"a\nb"}`:                                    "session_id",
		`{"message":"x","tools":{}}`:                                             "tools must be a list",
		`{"message":"x","tools":[1]}`:                                            "tools[0] must be an object",
		`{"message":"x","tools":[null]}`:                                         "tools[0] must be an object",
		`{"message":"x","tools":[{"type":"ftp"}]}`:                               "tools[0].type must be mcp or oauth",
		`{"message":"x","tools":[{"type":"mcp","headers":{"a":1}}]}`:             "tools[0].headers must be an object of strings",
		`{"message":"x","tools":[{"type":"mcp"},{"type":"mcp","args":"a"}]}`:     "tools[1].args must be a list of strings",
		`{"message":"x","tools":[{"type":"oauth","expires_at":"soon"}]}`:         "tools[0].expires_at must be a number",
		`{"message":"x","chat_history":[{"role":1}]}`:                            "chat_history[0].role must be a string",
		`{"message":"x","max_steps":1.5}`:                                        "max_steps must be an integer",
		`{"message":"x","max_steps":-1}`:                                         "max_steps must be an integer",
		`{"message":"x","max_steps":"9"}`:                                        "max_steps must be an integer",
		`{"message":"x","on_disconnect":"panic"}`:                                "on_disconnect must be continue or cancel",
		`{"message":"x","tool_interrupt_config":{"click":true}}`:                 "tool_interrupt_config.click must be an object",
		`{"message":"x","tool_interrupt_config":{"click":{"enabled":1}}}`:        "tool_interrupt_config.click.enabled must be true or false",
		`{"message":"x","tool_interrupt_config":{"t":{"click":{"enabled":1}}}}`:  "tool_interrupt_config.t.click.enabled must be true or false",
		`{"message":"` + strings.Repeat("x", 1<<20) + `"}`:                       "more than 1048576 bytes",
		`{"message":"x","preferred_node_id":"` + strings.Repeat("n", 300) + `"}`: "preferred_node_id has 300 bytes",
	} {
		code, reason := http.StatusBadRequest, ""
		if strings.Contains(says, "more than") {
			code, reason = http.StatusRequestEntityTooLarge, string(errs.TooLarge)
		}
		if got := wantProblem(t, g.do(t, "POST", "/api/agent/invoke", body), code, reason); !strings.Contains(got, says) {
			t.Errorf("%.60s: it says %q", body, got)
		}
	}
	for body, says := range map[string]string{
		`{}`: "session_id is required",
		`{"session_id":"s","tool_call_results":[{"decision":true}]}`: "tool_call_results[0].decision must be a string",
		`{"session_id":"s","tool_call_results":[{"tool_args":"x"}]}`: "tool_call_results[0].tool_args must be an object",
		`{"session_id":"s","tool_interrupt_config":[]}`:              "tool_interrupt_config must be an object",
	} {
		if got := wantProblem(t, g.do(t, "POST", "/api/agent/resume", body), 400, ""); !strings.Contains(got, says) {
			t.Errorf("%s: it says %q", body, got)
		}
	}
	wantProblem(t, g.do(t, "POST", "/api/agent/invoke?dialect=klingon", hello), 400, "")
	wantProblem(t, g.do(t, "POST", "/api/agent/invoke", hello, "X-User-Id", ""), 400, "")
}

// The user is the token's, whatever else a request says.
func TestUserIsTheTokens(t *testing.T) {
	t.Parallel()
	users := make(chan string, 10)
	note := func(ctx context.Context) {
		user, err := auth.BehalfOf(ctx)
		if err != nil {
			t.Error(err)
		}
		users <- string(user)
	}
	p := startPod(t, &script{
		invoke: func(_ *pod, _ *agentv1.InvokeRequest, s grpc.ServerStreamingServer[agentv1.InvokeResponse]) error {
			note(s.Context())
			return say(s, complete(1, "stop"))
		},
		sessions: func(ctx context.Context, _ *agentv1.ListSessionsRequest) (*agentv1.ListSessionsResponse, error) {
			note(ctx)
			return &agentv1.ListSessionsResponse{}, nil
		},
	})
	g := startGateway(t, withJWT, p)
	smuggled := []string{
		"X-User-Id", "", "Authorization", bearer(t, "ana"), "Hecaton-User-Bin", "Ym9i", "Grpc-Metadata-Hecaton-User-Bin", "Ym9i",
	}
	for _, resp := range []answer{
		g.do(t, "POST", "/api/agent/invoke", `{"message":"x","user_id":"bob"}`, smuggled...),
		g.do(t, "GET", "/api/agent/sessions", "", smuggled...),
		g.do(t, "GET", "/api/agent/sessions?user_id=ana", "", smuggled...),
	} {
		if user := <-users; resp.StatusCode != 200 || user != "ana" {
			t.Errorf("%s for %q", resp.Status, user)
		}
	}
	for _, path := range []string{"/api/agent/sessions", "/api/agent/sessions/s/events", "/api/tools", "/api/workspace/files", "/api/workspace/files/a"} {
		wantProblem(t, g.do(t, "GET", path, "", "X-User-Id", ""), 401, "")
		wantProblem(t, g.do(t, "GET", path+"?user_id=bob", "", "X-User-Id", "", "Authorization", bearer(t, "ana")), 403, "")
	}
}

// A page of an origin that is allowed can read a stream; one of another cannot start a run.
func TestOrigins(t *testing.T) {
	t.Parallel()
	p := startPod(t, &script{invoke: func(_ *pod, _ *agentv1.InvokeRequest, s grpc.ServerStreamingServer[agentv1.InvokeResponse]) error {
		return say(s, complete(1, "stop"))
	}})
	g := startGateway(t, nil, p)
	resp := g.do(t, "POST", "/api/agent/invoke", hello, "Origin", "https://ui.example.org")
	if resp.Header.Get("Access-Control-Allow-Origin") != "https://ui.example.org" {
		t.Errorf("%s %v", resp.Status, resp.Header)
	}
	wantSeqs(t, resp, 1)
	resp = g.do(t, "OPTIONS", "/api/agent/invoke", "", "Origin", "https://ui.example.org", "Access-Control-Request-Method", "POST")
	if allowed := resp.Header.Get("Access-Control-Allow-Headers"); resp.StatusCode != 204 || !strings.Contains(allowed, "Last-Event-ID") || !strings.Contains(allowed, "Idempotency-Key") {
		t.Errorf("%s %v", resp.Status, resp.Header)
	}
	wantProblem(t, g.do(t, "POST", "/api/agent/invoke", hello, "Origin", "https://evil.example.org"), 403, "ORIGIN_REFUSED")
}
