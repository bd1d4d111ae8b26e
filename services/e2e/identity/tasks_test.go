package identity_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// taskRequest sends a request of an MCP client that takes tasks. params are its members but for _meta.
func taskRequest(t *testing.T, g *cluster.Gateway, token, method, name, params string) cluster.Response {
	t.Helper()
	h := bearer(token)
	for k, v := range map[string]string{
		"Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": method, "Mcp-Name": name,
	} {
		h.Set(k, v)
	}
	return g.Do(t, http.MethodPost, "/mcp", "", `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{`+params+`,"_meta":{`+
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
		`"io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}}}`, h)
}

// A task is known to the token that began it, and to no other of the same user; it ends with that token.
func TestATaskIsItsTokens(t *testing.T) {
	t.Parallel()
	c, key := startWithTokens(t)
	full := mint(t, key, "ana", nil)
	node, err := c.Gateways[0].TryDial(t, "/ws/desktop", url.Values{"client_id": {"desktop_ana"}, "node_id": {"d"}}, &websocket.DialOptions{HTTPHeader: bearer(full)})
	if err != nil {
		t.Fatal(err)
	}
	node.Register(`"available_tools":["slow"]`)
	mine := makeToken(t, c.Gateways[0], full, []string{"tools:read", "tools:call"}, nil)
	others := map[string]string{
		"another token":    makeToken(t, c.Gateways[0], full, []string{"tools:read", "tools:call"}, nil).secret,
		"the user's":       full,
		"for another node": makeToken(t, c.Gateways[0], full, []string{"tools:read", "tools:call"}, []string{"e"}).secret,
		"of another user":  mint(t, key, "eve", nil),
	}
	begun := taskRequest(t, c.Gateways[1], mine.secret, "tools/call", "d__slow", `"name":"d__slow","arguments":{}`)
	result, _ := begun.Body["result"].(map[string]any)
	id := text(result["taskId"])
	if id == "" {
		t.Fatal(begun.Raw)
	}
	node.Call()
	for name, token := range others {
		for _, method := range []string{"tasks/get", "tasks/cancel"} {
			r := taskRequest(t, c.Gateways[0], token, method, id, `"taskId":"`+id+`"`)
			if e, _ := r.Body["error"].(map[string]any); e["code"] != -32602.0 {
				t.Errorf("%s by %s: %s", method, name, r.Raw)
			}
		}
	}
	if r := taskRequest(t, c.Gateways[0], mine.secret, "tasks/get", id, `"taskId":"`+id+`"`); r.Body["result"] == nil {
		t.Error(r.Raw)
	}
	revoke(t, c.Gateways[0], full, mine)
	var frame string
	testkit.Eventually(t, 10*time.Second, func() (ok bool) {
		frame, ok = node.TryNext()
		return ok
	}, "the call goes on without its token")
	if !strings.Contains(frame, "notifications/cancelled") {
		t.Errorf("%s", frame)
	}
}
