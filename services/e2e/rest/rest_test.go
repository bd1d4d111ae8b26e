package rest_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// same fails unless got is the JSON value want.
func same(t *testing.T, what string, got any, want string) {
	t.Helper()
	var w any
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, w) {
		g, _ := json.Marshal(got)
		t.Errorf("%s:\ngot  %s\nwant %s", what, g, want)
	}
}

const chrome = `"node_id":"n1","node_name":"Chrome","node_type":"extension","os":"macOS","os_version":"14.0","app_version":"1.2.0",` +
	`"capabilities":["browser_control"],"available_tools":["click","screenshot"],"max_concurrent_tasks":5`

func TestHealthAndAbout(t *testing.T) {
	t.Parallel()
	g := cluster.Start(t, cluster.Options{Gateways: 1}).Gateways[0]
	same(t, "GET /health", any(g.Get(t, "/health", "").Body), `{"status":"ok"}`)
	same(t, "GET /", any(g.Get(t, "/", "").Body), `{"name":"Zeus Backend API","version":"1.0.0","status":"running"}`)
}

func TestDevices(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	a, b := c.Gateways[0], c.Gateways[1]
	ext := a.Extension(t, "ana", "n1")
	ext.Register(chrome)
	desk := a.Desktop(t, "ana", "d1")
	desk.Silent()
	want := `{"total":2,"nodes":[
		{"node_id":"n1","node_type":"extension","node_name":"Chrome","status":"online","os":"macOS","os_version":"14.0","app_version":"1.2.0",
		 "capabilities":["browser_control"],"available_tools":["click","screenshot"],"current_tasks":0,"max_concurrent_tasks":5,"is_connected":true},
		{"node_id":"d1","node_type":"desktop","node_name":"Unknown Node","status":"online","os":"","os_version":"","app_version":"",
		 "capabilities":[],"available_tools":[],"current_tasks":0,"max_concurrent_tasks":3,"is_connected":true}]}`
	for _, path := range []string{"/api/node/devices?user_id=ana", "/node/devices?user_id=ana"} {
		same(t, path, any(b.Get(t, path, "").Body), want)
	}
	total := func(query string) any { return b.Get(t, "/api/node/devices"+query, "ana").Body["total"] }
	if total("?node_type=desktop") != 1.0 || total("?node_type=extension") != 1.0 || total("?online_only=true") != 2.0 {
		t.Error("filters by type or presence are wrong")
	}
	for _, query := range []string{"?node_type=phone", "?online_only=maybe"} {
		if r := b.Get(t, "/api/node/devices"+query, "ana"); r.Status != 400 || r.Type != "application/problem+json" {
			t.Errorf("%s: %d %s", query, r.Status, r.Raw)
		}
	}
	desk.Cut()
	testkit.Eventually(t, 5*time.Second, func() bool { return total("") == 1.0 }, "the desktop is gone from the list")
	if total("?online_only=true") != 1.0 || total("?online_only=false") != 2.0 {
		t.Error("what went away within the last minute is listed with online_only=false only")
	}
	if total("?user_id=bob") != nil { // ana in the header, bob in the query
		t.Error("two users in one request")
	}
}

func TestSessionsAndBinding(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	a, b := c.Gateways[0], c.Gateways[1]
	a.Extension(t, "ana", "n1").Register(chrome)
	short := `{"node_id":"n1","node_type":"extension","node_name":"Chrome","status":"online","is_connected":true}`
	same(t, "unbound, one node", any(b.Get(t, "/api/node/session/s1", "ana").Body),
		`{"session_id":"s1","node_id":null,"node":null,"requires_selection":false,"available_nodes":[`+short+`]}`)

	b.Desktop(t, "ana", "d1").Register(`"node_name":"Desk"`)
	two := `[` + short + `,{"node_id":"d1","node_type":"desktop","node_name":"Desk","status":"online","is_connected":true}]`
	same(t, "unbound, two nodes", any(b.Get(t, "/node/session/s1", "ana").Body),
		`{"session_id":"s1","node_id":null,"node":null,"requires_selection":true,"available_nodes":`+two+`}`)

	r := b.Post(t, "/api/node/bind", "ana", `{"session_id":"s1","node_id":"n1"}`)
	same(t, "bind", any(r.Body), `{"success":true,"message":"Session bound to Chrome","binding":{"session_id":"s1","user_id":"ana","node_id":"n1"}}`)
	bound := a.Get(t, "/api/node/session/s1", "ana").Body
	same(t, "bound", bound["node"], short)
	if bound["node_id"] != "n1" || bound["requires_selection"] != false {
		t.Errorf("bound: %v", bound)
	}
	if r := a.Post(t, "/api/node/bind", "ana", `{"session_id":"s1","node_id":"never seen"}`); r.Status != 404 {
		t.Errorf("bind to a node that was never seen: %d %s", r.Status, r.Raw)
	}
	if r := a.Post(t, "/api/node/bind", "ana", `{"session_id":"s1"}`); r.Status != 400 || !strings.Contains(r.Raw, "node_id") {
		t.Errorf("bind without a node: %d %s", r.Status, r.Raw)
	}
}

func TestToolResults(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	node := c.Gateways[0].Desktop(t, "ana", "d1")
	node.Silent()
	for name, test := range map[string]struct{ answer, want string }{
		"content": {
			`"result":{"content":[{"type":"text","text":"a"},{"type":"image","data":"aGk=","mimeType":"image/png"},{"type":"text","text":"b"}],"isError":false}`,
			`{"success":true,"result":{"content":[{"type":"text","text":"a"},{"type":"image","data":"aGk=","mimeType":"image/png"},{"type":"text","text":"b"}],"isError":false,"text":"a\nb"}}`,
		},
		"a screenshot": {
			`"result":{"content":[],"_screenshot":"iVBORw0KGgo="}`,
			`{"success":true,"result":{"content":[],"text":"","screenshot_url":"data:image/png;base64,iVBORw0KGgo="}}`,
		},
		"isError": {
			`"result":{"content":[{"type":"text","text":"no"}],"isError":true}`,
			`{"success":false,"result":{"content":[{"type":"text","text":"no"}],"isError":true,"text":"no"}}`,
		},
		"no content":         {`"result":{"stdout":"hi\n","n":1.50}`, `{"success":true,"result":{"stdout":"hi\n","n":1.5}}`},
		"no object":          {`"result":"just text"`, `{"success":true,"result":"just text"}`},
		"null":               {`"result":null`, `{"success":true,"result":null}`},
		"an error":           {`"error":{"code":-32603,"message":"element not found"}`, `{"success":false,"error":{"code":-32603,"message":"element not found"}}`},
		"an error of null":   {`"error":null,"result":{"a":1}`, `{"success":true,"result":{"a":1}}`},
		"stdout and content": {`"result":{"content":[{"type":"text","text":"hi"}],"stdout":"hi","exit_code":0}`, `{"success":true,"result":{"content":[{"type":"text","text":"hi"}],"text":"hi","stdout":"hi","exit_code":0}}`},
	} {
		got := make(chan cluster.Response, 1)
		go func() {
			got <- c.Gateways[1].Post(t, "/api/node/desktop/tool", "ana", `{"tool_name":"`+name+`","node_id":"d1"}`)
		}()
		call := node.Call()
		node.Send(`{"jsonrpc":"2.0","id":"` + call.ID + `",` + test.answer + `}`)
		r := <-got
		if r.Status != 200 {
			t.Errorf("%s: status %d", name, r.Status)
		}
		same(t, name, any(r.Body), test.want)
	}
}

func TestToolTargets(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	a, b := c.Gateways[0], c.Gateways[1]
	serve := func(ws *cluster.Client, name string) {
		ws.Silent()
		ws.Serve(func(call cluster.ToolCall) string {
			return cluster.Text(name + " " + string(call.Params.Arguments) + " " + call.Params.SessionID)
		})
	}
	serve(a.Extension(t, "ana", "e1"), "e1")
	serve(a.Desktop(t, "ana", "d1"), "d1")
	serve(b.Desktop(t, "ana", "d2"), "d2")
	text := func(path, body string) any {
		t.Helper()
		r := b.Post(t, path, "ana", body)
		if result, ok := r.Body["result"].(map[string]any); ok {
			return result["text"]
		}
		return r.Raw
	}
	for _, test := range []struct{ path, body, want string }{
		{"/api/node/browser/tool", `{"tool_name":"t"}`, "e1 {} "},
		{"/node/browser/tool", `{"tool_name":"t","tool_args":{"x":1},"unknown":true}`, `e1 {"x":1} `},
		{"/api/node/desktop/tool", `{"tool_name":"t","tool_args":null}`, "d1 {} "},
		{"/node/desktop/tool", `{"tool_name":"t","node_id":"d2"}`, "d2 {} "},
		{"/api/node/desktop/tool", `{"tool_name":"t","node_id":"d2","session_id":"s9"}`, "d2 {} s9"},
	} {
		if got := text(test.path, test.body); got != test.want {
			t.Errorf("%s %s: %v", test.path, test.body, got)
		}
	}
	r := b.Post(t, "/api/node/desktop/tool", "ana", `{"tool_name":"t","session_id":"s1"}`)
	if nodes, _ := r.Body["available_nodes"].([]any); r.Status != 409 || r.Body["reason"] != "REQUIRES_SELECTION" || r.Body["outcome"] != "not_delivered" || len(nodes) != 2 {
		t.Errorf("an unbound session with two desktops: %d %s", r.Status, r.Raw)
	}
	b.Post(t, "/api/node/bind", "ana", `{"session_id":"s1","node_id":"d2"}`)
	if got := text("/api/node/desktop/tool", `{"tool_name":"t","session_id":"s1"}`); got != "d2 {} s1" {
		t.Errorf("a bound session: %v", got)
	}
	if got := text("/api/node/browser/tool", `{"tool_name":"t","session_id":"s1"}`); got != "e1 {} s1" {
		t.Errorf("a session bound to a desktop, asked for a browser: %v", got)
	}
	if r := b.Post(t, "/api/node/browser/tool", "ana", `{"tool_name":"t","node_id":"d1"}`); r.Body["reason"] != "NODE_NOT_CONNECTED" {
		t.Errorf("a desktop called as a browser: %s", r.Raw)
	}
}
