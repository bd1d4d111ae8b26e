package mcp_test

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

const list = `{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{}}`

// expectation is what a request must be answered with.
type expectation struct {
	method, query, body string
	headers             http.Header
	status              int
	code                float64 // of the JSON-RPC error; 0 for any
	id                  any     // of the answer; nil for any
}

func check(t *testing.T, g *cluster.Gateway, name string, e expectation) {
	t.Helper()
	if e.method == "" {
		e.method = http.MethodPost
	}
	a := request(t, g, e.method, e.query, e.body, e.headers)
	if a.Status != e.status || e.code != 0 && a.at("error", "code") != e.code || e.id != nil && a.at("id") != e.id {
		t.Errorf("%s: %d %s, want %d, code %v, id %v", name, a.Status, a.Raw, e.status, e.code, e.id)
	}
}

func TestWhatTheTransportRefusesInBothEras(t *testing.T) {
	t.Parallel()
	g := cluster.Start(t, cluster.Options{Gateways: 1}).Gateways[0]
	s := session(t, g, "2025-11-25", "")
	with := func(more ...string) http.Header { h := s.Clone(); set(h, more...); return h }
	for name, e := range map[string]expectation{
		"a request":                     {body: list, headers: s, status: 200, id: 7.0},
		"a notification":                {body: `{"jsonrpc":"2.0","method":"notifications/initialized"}`, headers: s, status: 202},
		"a response":                    {body: `{"jsonrpc":"2.0","id":"x","result":{}}`, headers: s, status: 202},
		"an unknown notification":       {body: `{"jsonrpc":"2.0","method":"notifications/else"}`, headers: s, status: 202},
		"no JSON":                       {body: `{"jsonrpc`, headers: s, status: 400, code: -32700},
		"nothing":                       {body: ``, headers: s, status: 400, code: -32700},
		"no message":                    {body: `"hello"`, headers: s, status: 400, code: -32600},
		"no version of JSON-RPC":        {body: `{"id":7,"method":"ping"}`, headers: s, status: 400, code: -32600, id: 7.0},
		"id null":                       {body: `{"jsonrpc":"2.0","id":null,"method":"ping"}`, headers: s, status: 400, code: -32600},
		"an id that is an object":       {body: `{"jsonrpc":"2.0","id":{},"method":"ping"}`, headers: s, status: 400, code: -32600},
		"params that are a list":        {body: `{"jsonrpc":"2.0","id":7,"method":"ping","params":[1]}`, headers: s, status: 400, code: -32602, id: 7.0},
		"neither method nor result":     {body: `{"jsonrpc":"2.0","id":7}`, headers: s, status: 400, code: -32600},
		"nesting without end":           {body: `{"jsonrpc":"2.0","id":7,"method":"ping","params":` + strings.Repeat(`{"a":`, 10_000) + `1` + strings.Repeat(`}`, 10_000) + `}`, headers: s, status: 400, code: -32700},
		"Accept without event-stream":   {body: list, headers: with("Accept", "application/json"), status: 406},
		"Accept without JSON":           {body: list, headers: with("Accept", "text/event-stream"), status: 406},
		"no Accept":                     {body: list, headers: with("Accept", ""), status: 406},
		"Accept with anything":          {body: list, headers: with("Accept", "*/*"), status: 200},
		"Accept with parameters":        {body: list, headers: with("Accept", "application/json;q=0.9, text/event-stream; q=0.1"), status: 200},
		"another content type":          {body: list, headers: with("Content-Type", "text/plain"), status: 415},
		"no content type":               {body: list, headers: with("Content-Type", ""), status: 415},
		"a content type with a charset": {body: list, headers: with("Content-Type", "application/json; charset=utf-8"), status: 200},
		"an origin of a stranger":       {body: list, headers: with("Origin", "https://evil.example"), status: 403},
		"GET with such an origin":       {method: http.MethodGet, headers: with("Origin", "https://evil.example"), status: 403},
		"DELETE with such an origin":    {method: http.MethodDelete, headers: with("Origin", "https://evil.example"), status: 403},
		"the server's own origin":       {body: list, headers: with("Origin", "http://"+g.HTTP), status: 200},
		"a rebound host":                {body: list, headers: with("Host", "evil.example"), status: 403},
		"DELETE":                        {method: http.MethodDelete, headers: s, status: 405},
		"PUT":                           {method: http.MethodPut, headers: s, status: 405},
		"no user":                       {body: list, headers: with("X-User-Id", ""), status: 400},
		"a mode that is not there":      {query: "?mode=fast", body: list, headers: s, status: 400, code: -32602, id: 7.0},
		"readonly perhaps":              {query: "?readonly=perhaps", body: list, headers: s, status: 400, code: -32602},
	} {
		check(t, g, name, e)
	}
}

func set(h http.Header, more ...string) {
	for i := 0; i+1 < len(more); i += 2 {
		if h.Set(more[i], more[i+1]); more[i+1] == "" {
			h.Del(more[i])
		}
	}
}

func TestTheOlderEra(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	a, b := c.Gateways[0], c.Gateways[1]
	s := session(t, a, "2025-06-18", "")
	id := s.Get("Mcp-Session-Id")
	with := func(more ...string) http.Header { h := s.Clone(); set(h, more...); return h }
	flipped := []byte(id)
	flipped[len(id)/2] ^= 1
	ping := `{"jsonrpc":"2.0","id":"p","method":"ping"}`
	for name, e := range map[string]expectation{
		"at the other pod":                    {body: ping, headers: s, status: 200, id: "p"},
		"without a version":                   {body: ping, headers: with("Mcp-Protocol-Version", ""), status: 200},
		"without a session":                   {body: ping, headers: with("Mcp-Session-Id", ""), status: 400},
		"an unknown session":                  {body: ping, headers: with("Mcp-Session-Id", "abc"), status: 404},
		"a session with a bit flipped":        {body: ping, headers: with("Mcp-Session-Id", string(flipped)), status: 404, id: "p"},
		"another user's session":              {body: ping, headers: with("X-User-Id", "eve"), status: 404},
		"GET with another user's session":     {method: http.MethodGet, headers: with("X-User-Id", "eve"), status: 404},
		"GET without a session":               {method: http.MethodGet, headers: with("Mcp-Session-Id", ""), status: 400},
		"GET that wants no events":            {method: http.MethodGet, headers: with("Accept", "application/json"), status: 406},
		"a version that is not there":         {body: ping, headers: with("Mcp-Protocol-Version", "2024-11-05"), status: 400, id: "p"},
		"a version that is none":              {body: ping, headers: with("Mcp-Protocol-Version", "1"), status: 400},
		"an unknown method":                   {body: `{"jsonrpc":"2.0","id":7,"method":"nothing/at-all"}`, headers: s, status: 200, code: -32601, id: 7.0},
		"a method of the newer era":           {body: `{"jsonrpc":"2.0","id":7,"method":"server/discover"}`, headers: s, status: 200, code: -32601},
		"what is not declared":                {body: `{"jsonrpc":"2.0","id":7,"method":"logging/setLevel","params":{"level":"info"}}`, headers: s, status: 200, code: -32601},
		"an unknown tool":                     {body: `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"nothing"}}`, headers: s, status: 200, code: -32602, id: 7.0},
		"no tool":                             {body: `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{}}`, headers: s, status: 200, code: -32602},
		"arguments that are a list":           {body: `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"devices","arguments":[]}}`, headers: s, status: 200, code: -32602},
		"an unknown cursor":                   {body: `{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"cursor":"lie"}}`, headers: s, status: 200, code: -32602},
		"a cursor that is a number":           {body: `{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"cursor":1}}`, headers: s, status: 200, code: -32602},
		"a batch after 2025-03-26":            {body: `[` + ping + `]`, headers: s, status: 400, code: -32600},
		"initialize without a version":        {body: `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`, headers: headers(), status: 200, code: -32602},
		"initialize without an id":            {body: `{"jsonrpc":"2.0","method":"initialize","params":{"protocolVersion":"2025-06-18"}}`, headers: headers(), status: 400},
		"a progress token that is an object":  {body: `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"devices","_meta":{"progressToken":{}}}}`, headers: s, status: 400, code: -32602},
		"a timeout that is none":              {body: `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"devices","_meta":{"dev.hecaton/timeout-ms":-1}}}`, headers: s, status: 200, code: -32602},
		"Last-Event-ID where nothing is kept": {body: ping, headers: with("Last-Event-Id", "7"), status: 200},
	} {
		check(t, b, name, e)
	}
	if strings.ContainsFunc(id, func(r rune) bool { return r < 0x21 || r > 0x7e }) {
		t.Errorf("the session id %q is not visible ASCII", id)
	}
	for asked, want := range map[string]string{"2025-03-26": "2025-03-26", "2024-11-05": "2025-11-25", "2026-07-28": "2025-11-25", "2099-01-01": "2025-11-25", "x": "2025-11-25"} {
		r := request(t, a, http.MethodPost, "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"`+asked+`","capabilities":{}}}`, headers())
		if r.Status != 200 || r.at("result", "protocolVersion") != want || r.Header.Get("Mcp-Session-Id") == "" || r.at("result", "resultType") != nil {
			t.Errorf("initialize with %s: %d %s", asked, r.Status, r.Raw)
		}
	}
}

func TestBatchesOf20250326(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	node := c.Gateways[0].Extension(t, "ana", "n1")
	node.Register(chrome)
	node.Serve(func(call cluster.ToolCall) string { return cluster.Text(string(call.Params.Arguments)) })
	s := session(t, c.Gateways[0], "2025-03-26", "")
	b := c.Gateways[1]
	call := func(id string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"n1__click","arguments":{"n":` + id + `}}}`
	}
	r := request(t, b, http.MethodPost, "", `[`+call("1")+`,{"jsonrpc":"2.0","method":"notifications/initialized"},`+call("2")+`,{"jsonrpc":"2.0","id":3,"method":"x"}]`, s)
	if r.Status != 200 || !strings.HasPrefix(r.Raw, "[") || !strings.Contains(r.Raw, `{\"n\":1}`) || !strings.Contains(r.Raw, `{\"n\":2}`) || !strings.Contains(r.Raw, "-32601") {
		t.Errorf("%d %s", r.Status, r.Raw)
	}
	for name, e := range map[string]expectation{
		"notifications alone": {body: `[{"jsonrpc":"2.0","method":"notifications/initialized"}]`, headers: s, status: 202},
		"an empty batch":      {body: `[]`, headers: s, status: 400, code: -32600},
		"too large a batch":   {body: `[` + strings.Repeat(`{"jsonrpc":"2.0","method":"x"},`, 64) + `{"jsonrpc":"2.0","method":"x"}]`, headers: s, status: 400, code: -32600},
		"a batch of nothing":  {body: `[1]`, headers: s, status: 400, code: -32600},
	} {
		check(t, b, name, e)
	}
}

func TestHeadersOfTheStatelessEra(t *testing.T) {
	t.Parallel()
	g := cluster.Start(t, cluster.Options{Gateways: 1}).Gateways[0]
	node := g.Extension(t, "ana", "n1")
	node.Register(`"available_tools":["größe"]`)
	node.Serve(func(call cluster.ToolCall) string { return cluster.Text(call.Params.Name) })
	body, h := newerRequest("tools/list", "", "")
	with := func(more ...string) http.Header { h := h.Clone(); set(h, more...); return h }
	meta := func(members string) string {
		return `{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"_meta":{` + members + `}}}`
	}
	const version, capable = `"io.modelcontextprotocol/protocolVersion":"2026-07-28"`, `"io.modelcontextprotocol/clientCapabilities":{}`
	call := func(params string) string {
		return `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{` + params + `,"_meta":{` + version + `,` + capable + `}}}`
	}
	named := func(name string) http.Header { return with("Mcp-Method", "tools/call", "Mcp-Name", name) }
	encoded := "=?base64?" + base64.StdEncoding.EncodeToString([]byte("devices")) + "?="
	method := func(m string) expectation {
		body, h := newerRequest(m, "", "")
		return expectation{body: body, headers: h, status: 404, code: -32601, id: 7.0}
	}
	for name, e := range map[string]expectation{
		"as it should be":                   {body: body, headers: h, status: 200, id: 7.0},
		"no version in the header":          {body: body, headers: with("Mcp-Protocol-Version", ""), status: 400, code: -32020, id: 7.0},
		"another version in the header":     {body: body, headers: with("Mcp-Protocol-Version", "2025-11-25"), status: 400, code: -32020, id: 7.0},
		"no method in the header":           {body: body, headers: with("Mcp-Method", ""), status: 400, code: -32020, id: 7.0},
		"another method in the header":      {body: body, headers: with("Mcp-Method", "tools/call"), status: 400, code: -32020},
		"the method in capitals":            {body: body, headers: with("Mcp-Method", "TOOLS/LIST"), status: 400, code: -32020},
		"a method that is encoded":          {body: body, headers: with("Mcp-Method", "=?base64?dG9vbHMvbGlzdA==?="), status: 200},
		"no name in the header":             {body: call(`"name":"devices"`), headers: named(""), status: 400, code: -32020},
		"another name in the header":        {body: call(`"name":"devices"`), headers: named("else"), status: 400, code: -32020},
		"a name that is encoded":            {body: call(`"name":"devices"`), headers: named(encoded), status: 200},
		"base64 that is none":               {body: call(`"name":"devices"`), headers: named("=?base64?%%%?="), status: 400, code: -32020},
		"no _meta":                          {body: list, headers: h, status: 400, code: -32602, id: 7.0},
		"no version in _meta":               {body: meta(capable), headers: h, status: 400, code: -32602},
		"no capabilities in _meta":          {body: meta(version), headers: h, status: 400, code: -32602, id: 7.0},
		"capabilities that are none":        {body: meta(version + `,"io.modelcontextprotocol/clientCapabilities":1`), headers: h, status: 400, code: -32602},
		"a version that is not there":       {body: meta(`"io.modelcontextprotocol/protocolVersion":"2099-01-01",` + capable), headers: with("Mcp-Protocol-Version", "2099-01-01"), status: 400, code: -32022, id: 7.0},
		"a session and an event id":         {body: body, headers: with("Mcp-Session-Id", "whatever", "Last-Event-Id", "1"), status: 200},
		"ping":                              method("ping"),
		"initialize":                        method("initialize"),
		"logging/setLevel":                  method("logging/setLevel"),
		"what is not there":                 method("nothing/at-all"),
		"GET":                               {method: http.MethodGet, headers: h, status: 405},
		"DELETE":                            {method: http.MethodDelete, headers: h, status: 405},
		"a batch":                           {body: `[` + body + `]`, headers: h, status: 400},
		"an unknown tool":                   {body: call(`"name":"nothing"`), headers: named("nothing"), status: 200, code: -32602, id: 7.0},
		"a response":                        {body: `{"jsonrpc":"2.0","id":1,"result":{}}`, headers: h, status: 400},
		"a notification":                    {body: `{"jsonrpc":"2.0","method":"notifications/else"}`, headers: h, status: 202},
		"initialize of an older client":     {body: `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2026-07-28"}}`, headers: h, status: 200},
		"a header name in other letters":    {body: body, headers: func() http.Header { h := with("Mcp-Method", ""); h["MCP-METHOD"] = []string{"tools/list"}; return h }(), status: 200},
		"the same header twice":             {body: body, headers: func() http.Header { h := with(); h.Add("Mcp-Method", "tools/call"); return h }(), status: 400, code: -32020},
		"a name with blanks at its ends":    {body: call(`"name":"devices"`), headers: named("devices "), status: 200}, // HTTP strips them
		"a listen without what to hear of":  {body: strings.Replace(body, "tools/list", "subscriptions/listen", 1), headers: with("Mcp-Method", "subscriptions/listen"), status: 200, code: -32602},
		"a cursor that is none of the list": {body: strings.Replace(body, `"params":{`, `"params":{"cursor":"x",`, 1), headers: h, status: 200, code: -32602},
	} {
		check(t, g, name, e)
	}
	if r := newer(t, g, "", "server/discover", "", ""); r.Header.Get("Mcp-Session-Id") != "" || r.at("result", "ttlMs") != 0.0 ||
		r.at("result", "cacheScope") != "private" || r.at("result", "supportedVersions", "0") != "2026-07-28" ||
		r.at("result", "_meta", "io.modelcontextprotocol/serverInfo", "name") != "hecaton" || r.at("result", "capabilities", "tools", "listChanged") != true {
		t.Errorf("%d %s", r.Status, r.Raw)
	}
	bad := request(t, g, http.MethodPost, "", meta(`"io.modelcontextprotocol/protocolVersion":"2099-01-01",`+capable), with("Mcp-Protocol-Version", "2099-01-01"))
	if bad.at("error", "data", "requested") != "2099-01-01" || bad.at("error", "data", "supported", "0") != "2026-07-28" {
		t.Errorf("%s", bad.Raw)
	}
}
