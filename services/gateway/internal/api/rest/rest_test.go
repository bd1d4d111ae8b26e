package rest_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/rest"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/router"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/pod/presence"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/frame"
)

// registry answers every request with the same message, and keeps what it was asked.
type registry struct {
	grpc.ClientConnInterface
	answer proto.Message
	asked  proto.Message
}

func (r *registry) Invoke(_ context.Context, _ string, args, reply any, _ ...grpc.CallOption) error {
	r.asked = args.(proto.Message)
	if r.answer != nil {
		proto.Merge(reply.(proto.Message), r.answer)
	}
	return nil
}

// caller ends every call as told.
type caller struct {
	answer string
	err    error
	asked  router.Request
}

func (c *caller) Call(_ context.Context, r router.Request, _ func([]byte)) (*router.Answer, error) {
	c.asked = r
	if c.err != nil {
		return nil, c.err
	}
	return router.Read("n", frame.Wrap([]byte(c.answer))), nil
}

func ask(t *testing.T, reg *registry, c *caller, method, path, body string) *httptest.ResponseRecorder {
	t.Helper()
	a, err := auth.New(auth.Config{Mode: auth.Trusted}, obs.OrDiscard(nil))
	if err != nil {
		t.Fatal(err)
	}
	p := presence.New(reg, "gateway")
	defer p.Close()
	mux := http.NewServeMux()
	(&rest.API{Auth: a, Presence: p, Caller: c, MaxBody: 1 << 10}).Routes(mux)
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("X-User-Id", "ana")
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, r)
	return w
}

func TestToolCalls(t *testing.T) {
	t.Parallel()
	const browser, good = "/api/node/browser/tool", `{"tool_name":"click","tool_args":{"x":1},"session_id":"s"}`
	result := `{"result":{"content":[]}}`
	for name, tt := range map[string]struct {
		path, body string
		caller     caller
		status     int
		has        string
	}{
		"answered":         {browser, good, caller{answer: result}, 200, `"success":true`},
		"an error of it":   {browser, good, caller{answer: `{"error":{"code":1}}`}, 200, `{"error":{"code":1},"success":false}`},
		"the old path":     {"/node/browser/tool", good, caller{answer: result}, 200, `"success":true`},
		"not delivered":    {browser, good, caller{err: errs.New(errs.NodeBusy, "busy")}, 429, `"reason":"NODE_BUSY"`},
		"outcome unknown":  {browser, good, caller{err: errs.New(errs.ToolTimeout, "late")}, 504, `"outcome":"unknown"`},
		"no tool":          {browser, `{}`, caller{}, 400, "tool_name is required"},
		"no object":        {browser, `[]`, caller{}, 400, "must be a JSON object"},
		"no JSON":          {browser, `{`, caller{}, 400, "not JSON"},
		"arguments":        {browser, `{"tool_name":"x","tool_args":[]}`, caller{}, 400, "tool_args"},
		"a hostile id":     {browser, `{"tool_name":"x","node_id":"\u0000"}`, caller{}, 400, "node_id"},
		"too large a body": {browser, `{"tool_name":"` + strings.Repeat("x", 1<<10) + `"}`, caller{}, 413, "TOO_LARGE"},
	} {
		w := ask(t, &registry{}, &tt.caller, http.MethodPost, tt.path, tt.body)
		if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.has) {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
}

func TestAToolCallIsRoutedAsItsPathAndBodySay(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]nodev1.NodeType{
		"/api/node/browser/tool": nodev1.NodeType_NODE_TYPE_EXTENSION, "/api/node/desktop/tool": nodev1.NodeType_NODE_TYPE_DESKTOP,
	} {
		c := &caller{answer: `{"result":{}}`}
		ask(t, &registry{}, c, http.MethodPost, path, `{"tool_name":"look","tool_args":{"a":1},"session_id":"s","node_id":"n"}`)
		got := c.asked
		if got.Type != want || got.User != "ana" || got.Session != "s" || got.Node != "n" || got.Tool != "look" || string(got.Arguments) != `{"a":1}` {
			t.Errorf("%s asks for %+v", path, got)
		}
	}
}

func TestDevices(t *testing.T) {
	t.Parallel()
	online := &nodev1.Node{Info: &nodev1.NodeInfo{NodeId: "a", NodeType: nodev1.NodeType_NODE_TYPE_DESKTOP}, Status: nodev1.NodeStatus_NODE_STATUS_ONLINE}
	offline := &nodev1.Node{Info: &nodev1.NodeInfo{NodeId: "b"}, Status: nodev1.NodeStatus_NODE_STATUS_OFFLINE}
	for query, want := range map[string]struct {
		status, total int
		gone          bool
	}{
		"":                     {200, 2, false},
		"?online_only=true":    {200, 1, false},
		"?online_only=false":   {200, 2, true},
		"?node_type=extension": {200, 2, false},
		"?online_only=perhaps": {400, 0, false},
		"?node_type=toaster":   {400, 0, false},
	} {
		reg := &registry{answer: &nodev1.ListNodesResponse{Nodes: []*nodev1.Node{online, offline}}}
		w := ask(t, reg, nil, http.MethodGet, "/api/node/devices"+query, "")
		var body struct {
			Total int
			Nodes []map[string]any
		}
		_ = json.Unmarshal(w.Body.Bytes(), &body) // the status says whether it has to be one
		if w.Code != want.status || body.Total != want.total || len(body.Nodes) != want.total {
			t.Errorf("%s: %d %s", query, w.Code, w.Body)
		}
		if r, ok := reg.asked.(*nodev1.ListNodesRequest); ok && (r.GetIncludeOffline() != want.gone || r.GetUserId() != "ana") {
			t.Errorf("%s asks for %v", query, r)
		}
		if want.total > 0 && (body.Nodes[0]["node_type"] != "desktop" || body.Nodes[0]["capabilities"] == nil) {
			t.Errorf("%s shows %v", query, body.Nodes[0])
		}
	}
}
