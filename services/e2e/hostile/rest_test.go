package hostile_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// problem fails unless r is application/problem+json of a status, and says something about each of the words.
func problem(t *testing.T, what string, r cluster.Response, status int, words ...string) {
	t.Helper()
	if r.Status != status || r.Type != "application/problem+json" || r.Body["success"] != false || r.Body["status"] != float64(status) || r.Body["title"] == "" {
		t.Errorf("%.100s: %d %s %.300s", what, r.Status, r.Type, r.Raw)
	}
	said, _ := r.Body["error"].(string)
	for _, word := range words {
		if !strings.Contains(said, word) {
			t.Errorf("%.100s: %q does not say %q", what, said, word)
		}
	}
	for _, leak := range []string{"Go ", "struct", "rest.", "json:", "goroutine", "interface", "unmarshal"} {
		if strings.Contains(r.Raw, leak) {
			t.Errorf("%.100s: %s tells of our own insides", what, r.Raw)
		}
	}
}

var tools = []string{"/api/node/browser/tool", "/api/node/desktop/tool", "/node/browser/tool", "/node/desktop/tool"}

func TestABadBodyOfAToolCallIsABadRequestThatNamesTheField(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Gateways: 1})
	g := c.Gateways[0]
	ext, desk := g.Extension(t, "u", "e"), g.Desktop(t, "u", "d")
	for body, field := range map[string]string{
		`{}`: "tool_name", `{"tool_name":""}`: "tool_name", `{"tool_name":null}`: "tool_name", `{"tool_name":7}`: "tool_name", `{"tool_name":["t"]}`: "tool_name",
		`{"tool_name":{"tool_name":"t"}}`: "tool_name", `{"TOOL_NAME":"t"}`: "tool_name", `{"tool":"t"}`: "tool_name",
		`{"tool_name":"t","tool_args":[1]}`: "tool_args", `{"tool_name":"t","tool_args":"{}"}`: "tool_args", `{"tool_name":"t","tool_args":7}`: "tool_args",
		`{"tool_name":"t","tool_args":false}`: "tool_args", `{"tool_name":"t","tool_args":{"a":` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + `}}`: "nesting",
		"{\"tool_name\":\"t\",\"tool_args\":{\"a\":\"\xff\"}}": "UTF-8",
		`{"tool_name":"t","session_id":7}`:                     "session_id", `{"tool_name":"t","session_id":"a\u0000"}`: "session_id", `{"tool_name":"t","session_id":"` + strings.Repeat("s", 257) + `"}`: "session_id",
		`{"tool_name":"t","node_id":{}}`: "node_id", `{"tool_name":"t","node_id":"a\nb"}`: "", `{"tool_name":"t","node_id":"a\u009f"}`: "node_id", `{"tool_name":"t","node_id":"` + strings.Repeat("n", 300) + `"}`: "node_id",
		``: "body", ` `: "body", `{`: "body", `{"tool_name":"t"`: "body", `[]`: "body", `[{"tool_name":"t"}]`: "body", `"tool_name"`: "body", `7`: "body", `null`: "", `tool_name=t`: "body",
		`{"tool_name":"t"} {"tool_name":"u"}`: "body", `{"tool_name":"t"}]`: "body", `{'tool_name':'t'}`: "body", strings.Repeat("[", 100_000): "body", "\xff\xfe": "body", "\x00": "body",
	} {
		for _, path := range tools {
			problem(t, path+" "+body, g.Post(t, path, "u", body), http.StatusBadRequest, field)
		}
	}
	ext.Silent()
	desk.Silent()
}

func TestABadBodyOfABindingIsABadRequestThatNamesTheField(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Gateways: 1})
	g := c.Gateways[0]
	g.Extension(t, "u", "n").Silent()
	for body, field := range map[string]string{
		`{}`: "session_id", `{"session_id":"s"}`: "node_id", `{"node_id":"n"}`: "session_id", `{"session_id":"s","node_id":""}`: "node_id", `{"session_id":"","node_id":"n"}`: "session_id",
		`{"session_id":7,"node_id":"n"}`: "session_id", `{"session_id":"s","node_id":["n"]}`: "node_id", `{"session_id":null,"node_id":"n"}`: "session_id",
		`{"session_id":"` + strings.Repeat("s", 257) + `","node_id":"n"}`: "session_id", `{"session_id":"s","node_id":"\u0007"}`: "node_id",
		``: "body", `[]`: "body", `"s"`: "body", `{"session_id":"s","node_id":"n"}x`: "body", `{"session_id":"s","node_id":"n"`: "body",
	} {
		for _, path := range []string{"/api/node/bind", "/node/bind"} {
			problem(t, path+" "+body, g.Post(t, path, "u", body), http.StatusBadRequest, field)
		}
	}
	if r := g.Get(t, "/api/node/session/s", "u"); r.Body["node_id"] != nil {
		t.Errorf("something was bound: %s", r.Raw)
	}
}

func TestUnknownFieldsAreIgnored(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Gateways: 1})
	g := c.Gateways[0]
	ext := g.Extension(t, "u", "n")
	ext.Register("")
	ext.Serve(func(call cluster.ToolCall) string { return quoted(call.Params.Name + string(call.Params.Arguments)) })
	r := g.Post(t, "/api/node/browser/tool", "u", ` {"extra":{"a":[1]},"tool_name":"t","Tool_Args":7,"user_id":"other","timeout":"x","tool_args":{"a":1}}`+"\n")
	if r.Status != http.StatusOK || r.Body["result"] != `t{"a":1}` {
		t.Errorf("%d %s", r.Status, r.Raw)
	}
	r = g.Post(t, "/api/node/bind", "u", `{"session_id":"s","node_id":"n","user_id":"other","x":null}`)
	if r.Status != http.StatusOK || !strings.Contains(r.Raw, `"user_id":"u"`) {
		t.Errorf("%d %s", r.Status, r.Raw)
	}
}

func TestABodyOfElevenMiBIsTooLarge(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Gateways: 1})
	g := c.Gateways[0]
	ext := g.Extension(t, "u", "n")
	for _, path := range []string{"/api/node/browser/tool", "/api/node/bind"} {
		for _, body := range []string{
			`{"tool_name":"t","tool_args":{"x":"` + strings.Repeat("x", 11*mib) + `"}}`, strings.Repeat(" ", 11*mib) + `{}`, strings.Repeat("[", 11*mib),
			`{"unknown":"` + strings.Repeat("x", 11*mib) + `","tool_name":"t"}`,
		} {
			r := g.Post(t, path, "u", body)
			if body[0] == '[' && r.Status == http.StatusBadRequest {
				continue // what was read of it was enough
			}
			if problem(t, path, r, http.StatusRequestEntityTooLarge, "bytes"); r.Body["reason"] != "TOO_LARGE" || r.Body["outcome"] != "not_delivered" {
				t.Error(r.Raw)
			}
		}
	}
	ext.Silent()
}

func TestWhatIsNoEndpointIsNotFound(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Gateways: 1})
	g := c.Gateways[0]
	for _, request := range []string{
		"POST /api/node/devices", "DELETE /api/node/devices", "PUT /api/node/bind", "GET /api/node/bind", "GET /api/node/browser/tool", "PATCH /node/desktop/tool", "POST /api/node/session/s",
		"POST /api/node/stats", "POST /health", "POST /", "DELETE /ws/web", "POST /ws/extension?client_id=user_u", "OPTIONS /api/node/devices",
	} {
		method, path, _ := strings.Cut(request, " ")
		r := g.Do(t, method, path, "u", "{}", nil)
		if r.Status != http.StatusMethodNotAllowed && r.Status != http.StatusNotFound {
			t.Errorf("%s: %d %s", request, r.Status, r.Raw)
		}
		problem(t, request, r, r.Status)
	}
	for _, path := range []string{
		"/api", "/api/", "/api/node", "/api/node/", "/api/node/devices/", "/api/node/devices/n", "/api/node/session", "/api/node/session/", "/api/node/session/a/b", "/api/node/browser", "/apinode/devices",
		"/API/node/devices", "/api/node/Devices", "/favicon.ico", "/ws", "/ws/", "/ws/unknown", "/health/", "/metrics", "/debug/pprof/", "/livez", "/readyz", "/%00", "/*", "/api/node/devices%2f", "/..%2f..%2fetc/passwd",
	} {
		problem(t, path, g.Get(t, path, "u"), http.StatusNotFound)
	}
}

func TestAUserThatIsNoneIsABadRequest(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Gateways: 1})
	g := c.Gateways[0]
	for name, user := range map[string]string{"none": "", "257 bytes": strings.Repeat("u", 257), "NUL": "a\x00", "a newline": "a\nb", "invalid UTF-8": "a\xff"} {
		as := "?user_id=" + url.QueryEscape(user)
		problem(t, name, g.Get(t, "/api/node/devices"+as, ""), http.StatusBadRequest, "user_id")
		problem(t, name, g.Get(t, "/api/node/session/s"+as, ""), http.StatusBadRequest, "user_id")
		problem(t, name, g.Post(t, "/api/node/bind"+as, "", `{"session_id":"s","node_id":"n"}`), http.StatusBadRequest, "user_id")
		problem(t, name, g.Post(t, "/api/node/browser/tool"+as, "", `{"tool_name":"t"}`), http.StatusBadRequest, "user_id")
	}
	problem(t, "a session of 257 bytes", g.Get(t, "/api/node/session/"+strings.Repeat("s", 257), "u"), http.StatusBadRequest, "session_id")
	problem(t, "a session with a newline", g.Get(t, "/api/node/session/a%0ab", "u"), http.StatusBadRequest, "session_id")
	problem(t, "two users", g.Get(t, "/api/node/devices?user_id=v", "u"), http.StatusBadRequest, "user")
	problem(t, "a type of node that is none", g.Get(t, "/api/node/devices?node_type=toaster", "u"), http.StatusBadRequest, "node_type")
	problem(t, "a truth that is none", g.Get(t, "/api/node/devices?online_only=maybe", "u"), http.StatusBadRequest, "online_only")
}
