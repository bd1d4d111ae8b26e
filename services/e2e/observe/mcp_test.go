package observe_test

import (
	"net/http"
	"testing"

	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// A request of an MCP client has a span of its own, under the trace of its message, with the call below it; and the span does not tell
// whose tool it is.
func TestAnMCPRequestHasASpan(t *testing.T) {
	t.Parallel()
	w := newTraced(t, "")
	const trace = "0af7651916cd43dd8448eb211c80319c"
	send := func(method, name, params string) cluster.Response {
		h := http.Header{
			"X-User-Id": {user}, "Accept": {"application/json, text/event-stream"}, "Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {method},
		}
		if name != "" {
			h.Set("Mcp-Name", name)
		}
		return w.Gateways[0].Do(t, http.MethodPost, "/mcp", "", `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{`+params+
			`"_meta":{"traceparent":"00-`+trace+`-00f067aa0ba902b7-01","io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
			`"io.modelcontextprotocol/clientCapabilities":{}}}}`, h)
	}
	if r := send("tools/list", "", ""); r.Status != http.StatusOK {
		t.Fatal(r.Raw)
	}
	done := make(chan cluster.Response)
	go func() { done <- send("tools/call", "look", `"name":"look","arguments":{"of":"`+theirs+`"},`) }()
	got, leaf := w.answer(t)
	if r := <-done; r.Status != http.StatusOK || got != trace {
		t.Errorf("trace %s, %s", got, r.Raw)
	}
	send("tools/call", "nobody-"+theirs, `"name":"nobody-`+theirs+`",`)
	w.stop(t)
	w.expectPath(t, leaf, append([]string{"gateway-0: tools/call (server)"}, acrossPods...)...)
	methods, failed := map[string]int{}, 0
	for _, s := range w.all() {
		if m := s.attribute("mcp.method.name"); m != "" && s.trace() == trace && s.attribute("mcp.protocol.version") == "2026-07-28" {
			methods[m]++
		}
		if s.attribute("error.type") == "-32602" {
			failed++
		}
	}
	if methods["tools/list"] != 1 || methods["tools/call"] != 2 || failed != 1 {
		t.Errorf("%v, %d failed", methods, failed)
	}
	w.discreet(t)
}
