package toolbox_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
)

func TestValidateMcp(t *testing.T) {
	t.Parallel()
	b := start(t, options{})
	refuses := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) }))
	t.Cleanup(refuses.Close)
	nobody, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = nobody.Close()
	got, err := b.ValidateMcp(as(t, "ana"), &agentv1.ValidateMcpRequest{Name: "a", BaseUrl: mcpServer(t).URL})
	if err != nil || !got.GetSuccess() || got.GetStatus() != "connected" || got.GetToolCount() != 1 || got.GetPromptCount() != 0 ||
		got.GetTools()[0].GetName() != "echo" || got.GetTools()[0].GetDescription() != "Says it again" {
		t.Errorf("%v, %v", got, err)
	}
	for address, why := range map[string]string{refuses.URL: "401", "http://" + nobody.Addr().String(): "cannot be reached"} {
		got, err := b.ValidateMcp(as(t, "ana"), &agentv1.ValidateMcpRequest{Name: "a", BaseUrl: address})
		if err != nil || got.GetSuccess() || got.GetStatus() != "failed" || !strings.Contains(got.GetError(), why) {
			t.Errorf("%v, %v", got, err)
		}
	}
	public := start(t, options{public: true})
	for want, req := range map[errs.Reason]*agentv1.ValidateMcpRequest{
		errs.InvalidArgument: {Name: "a"},
		errs.AddressRefused:  {Name: "a", BaseUrl: refuses.URL},
	} {
		if _, err := public.ValidateMcp(as(t, "ana"), req); !errors.Is(ours(err), want) || !strings.Contains(err.Error(), "base_url") {
			t.Errorf("want %s, got %v", want, err)
		}
	}
	if _, err := b.ValidateMcp(t.Context(), &agentv1.ValidateMcpRequest{Name: "a", BaseUrl: refuses.URL}); !errors.Is(ours(err), errs.InvalidArgument) {
		t.Errorf("without a user: %v", err)
	}
}

// github answers the exchange and the API.
func github(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/login/oauth/access_token":
			_, _ = io.WriteString(w, `{"access_token":"A","refresh_token":"R","expires_in":3600}`)
		case r.URL.Path == "/user/repos" && r.Header.Get("Authorization") == "Bearer TOKEN-1":
			_, _ = io.WriteString(w, `[{"full_name":"ana/app"}]`)
		default:
			w.WriteHeader(http.StatusBadGateway)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func answer(json string) *toolv1.Answer {
	return &toolv1.Answer{NodeId: "n", Outcome: &toolv1.Answer_ResultJson{ResultJson: []byte(json)}}
}

// callTool returns the answer in the form that REST shows.
func callTool(t *testing.T, b *box, user ids.UserID, req *agentv1.CallToolRequest) (string, error) {
	t.Helper()
	got, err := b.CallTool(as(t, user), req)
	if err != nil {
		return "", ours(err)
	}
	return fmt.Sprintf(`{"success":%t,"result":%s,"error":%q}`, got.GetSuccess(), got.GetResultJson(), got.GetError()), nil
}

// members are those of a call's result.
func members(r *agentv1.CallToolResponse) (m map[string]any) {
	_ = json.Unmarshal(r.GetResultJson(), &m) // what is no object has none
	return m
}

// A tool of a node: the answer is that of /api/node/*/tool.
func TestCallNodeTool(t *testing.T) {
	t.Parallel()
	b := start(t, options{})
	args := []byte(`{"n":3,"selector":"#pay"}`)
	b.nodes.set(answer(`{"content":[{"type":"text","text":"Clicked"}],"_screenshot":"iVBOR","a":1,"a":2}`), nil, []string{"other"}, []string{"click"})
	got, err := b.CallTool(as(t, "ana"), &agentv1.CallToolRequest{ToolName: "click", ToolArgsJson: args, SessionId: "s"})
	result := members(got)
	if err != nil || !got.GetSuccess() || result["text"] != "Clicked" || result["screenshot_url"] != "data:image/png;base64,iVBOR" || result["_screenshot"] != nil {
		t.Errorf("%v, %v", got, err)
	}
	call := b.nodes.calls[0]
	if call.GetUserId() != "ana" || call.GetSessionId() != "s" || call.GetNodeId() != "" || call.GetToolName() != "click" || string(call.GetArgumentsJson()) != `{"n":3,"selector":"#pay"}` {
		t.Errorf("%v", call)
	}
	b.nodes.set(answer(`{"content":[],"isError":true}`), nil, []string{"click"})
	if got, err := callTool(t, b, "ana", &agentv1.CallToolRequest{ToolName: "click"}); err != nil || strings.Contains(got, `"success":true`) {
		t.Errorf("%s, %v", got, err)
	}
	b.nodes.set(&toolv1.Answer{Outcome: &toolv1.Answer_ErrorJson{ErrorJson: []byte(`{"code":-32603,"message":"Element not found"}`)}}, nil, []string{"click"})
	if got, err := b.CallTool(as(t, "ana"), &agentv1.CallToolRequest{ToolName: "click"}); err != nil || got.GetSuccess() || got.GetError() != "Element not found (error -32603)" {
		t.Errorf("%v, %v", got, err)
	}
	// With node_id nothing else is looked at; what was not answered keeps its reason.
	for _, reason := range []errs.Reason{errs.RequiresSelection, errs.NodeNotConnected, errs.ToolTimeout, errs.ToolNotOffered} {
		b.nodes.set(nil, errs.New(reason, "because"))
		if _, err := callTool(t, b, "ana", &agentv1.CallToolRequest{ToolName: "click", NodeId: "n"}); !errors.Is(err, reason) {
			t.Errorf("want %s, got %v", reason, err)
		}
	}
}

// A name that no node offers may be a saved tool's; else it is not found, unless a node may have it without saying so.
func TestCallSavedTool(t *testing.T) {
	t.Parallel()
	b := start(t, options{provider: github(t)})
	create(t, b, &agentv1.SavedTool{Type: "mcp", Name: "one", BaseUrl: mcpServer(t).URL})
	create(t, b, &agentv1.SavedTool{Type: "mcp", Name: "gone", BaseUrl: "http://127.0.0.1:1"})
	create(t, b, &agentv1.SavedTool{Type: "oauth", Name: "github", AccessToken: proto.String("TOKEN-1")})
	b.nodes.set(nil, errs.New(errs.NodeNotConnected, "nobody"), []string{"click"})
	say := func(text string) *agentv1.CallToolRequest {
		return &agentv1.CallToolRequest{ToolName: "echo", ToolArgsJson: []byte(`{"text":"` + text + `"}`)}
	}
	got, err := b.CallTool(as(t, "ana"), say("hi"))
	if err != nil || !got.GetSuccess() {
		t.Fatalf("%v, %v", got, err)
	}
	result := members(got)
	if content := result["content"].([]any); result["text"] != "hi" || len(content) != 3 || content[1].(map[string]any)["data"] != "UE5H" ||
		content[2].(map[string]any)["resource"].(map[string]any)["blob"] != "V0FW" {
		t.Errorf("%v", result)
	}
	if got, err := b.CallTool(as(t, "ana"), say("bad")); err != nil || got.GetSuccess() || members(got)["text"] != "bad" {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := callTool(t, b, "ana", &agentv1.CallToolRequest{ToolName: "github_list_repositories"}); err != nil || !strings.Contains(got, "ana/app") {
		t.Errorf("%s, %v", got, err)
	}
	issue := &agentv1.CallToolRequest{ToolName: "github_create_issue", ToolArgsJson: []byte(`{"owner":"o","repo":"r","title":"t"}`)}
	if got, err := b.CallTool(as(t, "ana"), issue); err != nil || got.GetSuccess() || !strings.Contains(got.GetError(), "may have run") ||
		members(got)["outcome"] != "unknown" {
		t.Errorf("%v, %v", got, err)
	}
	issue.ToolArgsJson = nil
	if _, err := callTool(t, b, "ana", issue); !errors.Is(err, errs.InvalidArgument) || !strings.Contains(err.Error(), "arguments.") {
		t.Errorf("without arguments: %v", err)
	}
	if _, err := callTool(t, b, "ana", &agentv1.CallToolRequest{ToolName: "no_such_tool"}); !errors.Is(err, errs.ToolNotFound) || !strings.Contains(err.Error(), "gone") {
		t.Errorf("an unknown tool: %v", err)
	}
	if n := len(b.nodes.calls); n != 0 {
		t.Errorf("a node was called %d times", n)
	}
	// A node that takes the keys of others' tools gets none of their calls.
	b.nodes.set(answer(`"stolen"`), nil, []string{"mcp__one__echo", "oauth__github_list_repositories"})
	for name, want := range map[string]string{"mcp__one__echo": "hi", "oauth__github_list_repositories": "ana/app"} {
		req := say("hi")
		if req.ToolName = name; name != "mcp__one__echo" {
			req.ToolArgsJson = nil
		}
		if got, err := callTool(t, b, "ana", req); err != nil || !strings.Contains(got, want) || len(b.nodes.calls) != 0 {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
	b.nodes.set(nil, errs.New(errs.NodeNotConnected, "nobody"), []string{"click"})
	// Another's saved tools are not there, nor has bob a node.
	if _, err := callTool(t, b, "bob", say("hi")); !errors.Is(err, errs.NodeNotConnected) {
		t.Errorf("bob: %v", err)
	}
	b.nodes.set(answer(`{"ok":true}`), nil, []string{})
	if got, err := callTool(t, b, "ana", &agentv1.CallToolRequest{ToolName: "no_such_tool"}); err != nil || !strings.Contains(got, "ok") {
		t.Errorf("a node that does not tell its tools: %s, %v", got, err)
	}
	b.nodes.away = errs.New(errs.BusUnavailable, "no gateway")
	if _, err := callTool(t, b, "ana", &agentv1.CallToolRequest{ToolName: "no_such_tool"}); !errors.Is(err, errs.BusUnavailable) {
		t.Errorf("no gateway: %v", err)
	}
	if got, err := b.CallTool(as(t, "ana"), say("still")); err != nil || !got.GetSuccess() {
		t.Errorf("no gateway, a saved tool: %v, %v", got, err)
	}
	for _, bad := range []*agentv1.CallToolRequest{{}, {ToolName: "a\n"}, {ToolName: "a", SessionId: "\x01"}, {ToolName: "a", NodeId: strings.Repeat("x", 300)}} {
		if _, err := callTool(t, b, "ana", bad); !errors.Is(err, errs.InvalidArgument) {
			t.Errorf("%v: %v", bad, err)
		}
	}
}
