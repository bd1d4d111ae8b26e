package hostile_test

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/hecaton-dev/hecaton/pkg/model/modeltest"
	"github.com/hecaton-dev/hecaton/pkg/security/webguard"
	orchestrator "github.com/hecaton-dev/hecaton/services/agent-orchestrator/app"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
	gateway "github.com/hecaton-dev/hecaton/services/gateway/app"
)

// laptop is a developer's cluster in trusted mode, where MCP servers may be programs if the developer said so.
func laptop(t *testing.T, stdio bool, change ...func(*gateway.Config)) *cluster.Gateway {
	t.Helper()
	return cluster.Start(t, cluster.Options{
		Gateways: 1, Orchestrators: 1, Model: modeltest.New(t).URL(),
		Orchestrator: func(_ int, c *orchestrator.Config) { c.MCPStdio = stdio },
		Gateway: func(_ int, c *gateway.Config) {
			for _, f := range change {
				f(c)
			}
		},
	}).Gateways[0]
}

// program is a body that has a file made where it is obeyed.
func program(t *testing.T) (body, file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "was here")
	return fmt.Sprintf(`{"name":"x","transport_type":"stdio","command":"/bin/sh","args":["-c","touch %s"]}`, strings.ReplaceAll(file, " ", `\\ `)), file
}

func made(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// pageSays are headers that a browser sends for a page, which cannot keep it from that.
func pageSays(pairs ...string) http.Header {
	h := http.Header{"Content-Type": {"text/plain;charset=UTF-8"}}
	for i := 0; i < len(pairs); i += 2 {
		h[pairs[i]] = []string{pairs[i+1]}
	}
	return h
}

const validate = "/api/tools/mcp/validate"

// A page, an extension or a rebound name wants the developer's machine to run a program. The last request shows that the
// body is one that would.
func TestNoPageRunsAProgramOnALaptop(t *testing.T) {
	t.Parallel()
	g := laptop(t, true)
	_, port, _ := strings.Cut(g.HTTP, ":")
	body, file := program(t)
	for what, tt := range map[string]struct {
		header http.Header
		reason string
	}{
		"an extension":                     {pageSays("Origin", "chrome-extension://abcdefghijklmnopabcdefghijklmnop", "Sec-Fetch-Site", "none"), "ORIGIN_REFUSED"},
		"an extension that asked":          {pageSays("Origin", "chrome-extension://abcdefghijklmnopabcdefghijklmnop", "Content-Type", "application/json"), "ORIGIN_REFUSED"},
		"an extension of Firefox":          {pageSays("Origin", "moz-extension://5b5f1f0e-6c1c-4d0b-9f57-3c1f0c6a2b11"), "ORIGIN_REFUSED"},
		"a page of another local port":     {pageSays("Origin", "http://localhost:3000"), "ORIGIN_REFUSED"},
		"the same, by address":             {pageSays("Origin", "http://127.0.0.1:3000"), "ORIGIN_REFUSED"},
		"a page of the web":                {pageSays("Origin", "https://evil.example"), "ORIGIN_REFUSED"},
		"a page that looks local":          {pageSays("Origin", "http://localhost."+"evil.example:"+port), "ORIGIN_REFUSED"},
		"a sandboxed frame":                {pageSays("Origin", "null"), "ORIGIN_REFUSED"},
		"a local file":                     {pageSays("Origin", "file://"), "ORIGIN_REFUSED"},
		"a form without an origin":         {pageSays("Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"), "ORIGIN_REFUSED"},
		"a rebound name":                   {pageSays("Host", "evil.example:"+port, "Origin", "http://evil.example:"+port), "HOST_REFUSED"},
		"a rebound name of mDNS":           {pageSays("Host", "evil.local:"+port, "Origin", "http://evil.local:"+port), "HOST_REFUSED"},
		"a rebound single label":           {pageSays("Host", "evil:"+port, "Origin", "http://evil:"+port), "HOST_REFUSED"},
		"a rebound name without an origin": {pageSays("Host", "evil.example:"+port), "HOST_REFUSED"},
		"a rebound name with a dot":        {pageSays("Host", "evil.local.:"+port), "HOST_REFUSED"},
		"a rebound name that looks local":  {pageSays("Host", "localhost.evil.example:"+port), "HOST_REFUSED"},
		"a rebound name below localhost":   {pageSays("Host", "evil.localhost:"+port), "HOST_REFUSED"},
		"a rebound name of an address":     {pageSays("Host", "127.0.0.1.nip.io:"+port), "HOST_REFUSED"},
		"an address in another form":       {pageSays("Host", "127.1:"+port), "HOST_REFUSED"},
		"a number":                         {pageSays("Host", "0x7f000001:"+port), "HOST_REFUSED"},
		"no address":                       {pageSays("Host", "0.0.0.0:"+port), "HOST_REFUSED"},
		"another machine's":                {pageSays("Host", "192.168.1.5:"+port), "HOST_REFUSED"},
		"a rebound name behind a proxy":    {pageSays("Host", "evil.example", "X-Forwarded-Host", g.HTTP, "X-Forwarded-For", "127.0.0.1"), "HOST_REFUSED"},
		"a rebound name, JSON":             {pageSays("Host", "evil.local:"+port, "Content-Type", "application/json"), "HOST_REFUSED"},
		"plain text":                       {pageSays(), "CONTENT_TYPE_REFUSED"},
		"a form's fields":                  {pageSays("Content-Type", "application/x-www-form-urlencoded"), "CONTENT_TYPE_REFUSED"},
		"a form's file":                    {pageSays("Content-Type", "multipart/form-data; boundary=x"), "CONTENT_TYPE_REFUSED"},
		"plain text that speaks of JSON":   {pageSays("Content-Type", "text/plain; x=application/json"), "CONTENT_TYPE_REFUSED"},
		"two types in one":                 {pageSays("Content-Type", "text/plain, application/json"), "CONTENT_TYPE_REFUSED"},
		"two types":                        {http.Header{"Content-Type": {"application/json", "text/plain"}}, "CONTENT_TYPE_REFUSED"},
		"bytes without a type":             {http.Header{"Content-Type": nil}, "CONTENT_TYPE_REFUSED"},
		"no JSON":                          {pageSays("Content-Type", "application/jsonp"), "CONTENT_TYPE_REFUSED"},
	} {
		status := http.StatusForbidden
		if tt.reason == "CONTENT_TYPE_REFUSED" {
			status = http.StatusUnsupportedMediaType
		}
		for _, path := range []string{validate, "/" + validate, validate + "?user_id=u"} {
			r := g.Do(t, http.MethodPost, path, "u", body, tt.header)
			if problem(t, what, r, status); r.Body["reason"] != tt.reason {
				t.Errorf("%s: %v, want %s", what, r.Body["reason"], tt.reason)
			}
		}
	}
	if made(file) {
		t.Fatal("a page has run a program")
	}
	if g.Post(t, validate, "u", body); !made(file) {
		t.Error("the developer's own request did not run the program, so that this test shows nothing")
	}
}

// Who has not asked for it has no programs run, however it is asked.
func TestWithoutMCPStdioNobodyRunsAProgram(t *testing.T) {
	t.Parallel()
	g := laptop(t, false)
	body, file := program(t)
	r := g.Post(t, validate, "u", body)
	if problem(t, "a program", r, http.StatusBadRequest, "--mcp-stdio"); r.Body["reason"] != "ADDRESS_REFUSED" {
		t.Error(r.Raw)
	}
	r = g.Post(t, "/api/tools", "u", `{"type":"mcp",`+body[1:])
	problem(t, "a program to keep", r, http.StatusBadRequest, "--mcp-stdio")
	if made(file) {
		t.Error("a program was run")
	}
}

// Each way to change something, and each socket, has the same door.
func TestEveryPublicWayRefusesTheSame(t *testing.T) {
	t.Parallel()
	g := laptop(t, false)
	_, port, _ := strings.Cut(g.HTTP, ":")
	for _, request := range []string{
		"POST /api/node/bind", "POST /node/bind", "POST /api/node/browser/tool", "POST /api/node/desktop/tool", "POST /node/browser/tool", "POST /api/agent/invoke", "POST /api/agent/resume",
		"POST /api/agent/sessions/s/cancel", "DELETE /api/agent/sessions/s", "PUT /api/agent/approval-settings", "POST /api/tools", "PUT /api/tools/t", "DELETE /api/tools/t",
		"POST /api/tools/call", "POST /api/tools/oauth/exchange", "POST " + validate, "PUT /api/workspace/files/a", "DELETE /api/workspace/files/a", "POST /unknown",
		"GET /api/node/devices", "GET /api/node/session/s", "GET /api/node/stats", "GET /api/agent/sessions", "GET /api/agent/sessions/s/events", "GET /api/workspace/files/a", "GET /", "GET /health", "GET /docs", "GET /openapi.json",
		"GET /ws/extension?client_id=user_u", "GET /ws/desktop?client_id=desktop_u", "GET /ws/web?user_id=u", "OPTIONS /api/tools",
	} {
		method, path, _ := strings.Cut(request, " ")
		for what, header := range map[string]http.Header{
			"another origin": pageSays("Origin", "http://localhost:3000", "Content-Type", "application/json"),
			"another name":   pageSays("Host", "evil.local:"+port, "Content-Type", "application/json"),
			"a picture":      pageSays("Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "image", "Content-Type", "application/json"),
		} {
			r := g.Do(t, method, path, "u", "{}", header)
			if r.Status != http.StatusForbidden || r.Header.Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("%s, %s: %d %s", request, what, r.Status, r.Raw)
			}
		}
		files := strings.HasPrefix(request, "PUT /api/workspace/files/")
		if r := g.Do(t, method, path, "u", "{}", pageSays()); method != http.MethodGet && method != http.MethodOptions && !files && r.Status != http.StatusUnsupportedMediaType {
			t.Errorf("%s, plain text: %d %s", request, r.Status, r.Raw)
		}
	}
}

// What other origins are refused is open to the allowed ones, and to programs.
func TestWhoIsNamedComesIn(t *testing.T) {
	t.Parallel()
	g := laptop(t, false, func(c *gateway.Config) {
		c.Pages = webguard.Config{Origins: []string{"http://localhost:3000"}, Hosts: []string{"box.local"}}
	})
	_, port, _ := strings.Cut(g.HTTP, ":")
	for what, header := range map[string]http.Header{
		"a program":                   {},
		"a program with fetch":        pageSays("Sec-Fetch-Mode", "cors", "Content-Type", "application/json"),
		"its own page":                pageSays("Origin", "http://"+g.HTTP, "Content-Type", "application/json; charset=utf-8"),
		"its own page, by name":       pageSays("Host", "localhost:"+port, "Origin", "http://localhost:"+port, "Content-Type", "Application/JSON"),
		"the reference extension":     pageSays("Origin", webguard.ReferenceExtension, "Content-Type", "application/json"),
		"a page that was named":       pageSays("Origin", "http://localhost:3000", "Content-Type", "application/json"),
		"a name that was given":       pageSays("Host", "box.local:"+port, "Content-Type", "application/json"),
		"its page":                    pageSays("Host", "box.local:"+port, "Origin", "http://box.local:"+port, "Content-Type", "application/json"),
		"a program, by IPv6 loopback": pageSays("Host", "[::1]:"+port, "Content-Type", "application/json"),
	} {
		r := g.Do(t, http.MethodPost, "/api/node/bind", "u", `{"session_id":"s","node_id":"n"}`, header)
		if r.Status != http.StatusNotFound { // there is no such node
			t.Errorf("%s: %d %s", what, r.Status, r.Raw)
		}
		if from := header.Get("Origin"); from != "" && r.Header.Get("Access-Control-Allow-Origin") != from {
			t.Errorf("%s cannot read the answer: %v", what, r.Header)
		}
	}
	for _, origin := range []string{webguard.ReferenceExtension, "http://localhost:3000"} {
		c, err := g.TryDial(t, "/ws/extension", url.Values{"client_id": {"user_u"}}, &websocket.DialOptions{HTTPHeader: http.Header{"Origin": {origin}}})
		if err != nil {
			t.Fatal(err)
		}
		c.Cut()
	}
	if r := g.Do(t, http.MethodPost, "/api/agent/sessions/s/cancel", "u", "", nil); r.Status != http.StatusNotFound {
		t.Errorf("without a body there is no type to name: %d %s", r.Status, r.Raw)
	}
	if r := g.Do(t, http.MethodPut, "/api/workspace/files/a.txt", "u", "text", http.Header{"Content-Type": {"text/plain"}}); r.Status != http.StatusOK {
		t.Errorf("a file: %d %s", r.Status, r.Raw)
	}
}
