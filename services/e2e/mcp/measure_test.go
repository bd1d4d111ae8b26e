package mcp_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// Requests are measured under the names of OpenTelemetry's conventions, and the client's trace reaches the device of another pod.
func TestRequestsAreMeasuredAndTraced(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Orchestrators: 1})
	node := c.Gateways[0].Extension(t, "ana", "n1")
	node.Register(chrome + `,"capabilities":["mcp_meta"]`)
	traces := make(chan any, 1)
	node.Serve(func(call cluster.ToolCall) string {
		traces <- call.Params.Meta["traceparent"]
		return cluster.Text("done")
	})
	g := c.Gateways[1]
	const trace = "0af7651916cd43dd8448eb211c80319c"
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"click","arguments":{},"_meta":{"traceparent":"00-` + trace +
		`-b7ad6b7169203331-01","io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	h := headers("Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "click")
	if r := request(t, g, http.MethodPost, "", body, h); r.text() != "done" {
		t.Fatalf("%d %s", r.Status, r.Raw)
	}
	if got, _ := (<-traces).(string); !strings.Contains(got, trace) {
		t.Errorf("the device is told the trace %q", got)
	}
	session2025(t, g)
	for _, wrong := range []string{"no/such/" + strings.Repeat("x", 50), "another"} {
		newer(t, g, "", wrong, "", "")
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+g.Admin+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`mcp_method_name="initialize",mcp_protocol_version="2025-11-25"`,
		`mcp_method_name="tools/call",mcp_protocol_version="2026-07-28"`,
		`error_type="-32601",`, `mcp_method_name="_OTHER"`,
	} {
		if !strings.Contains(string(raw), want) {
			t.Errorf("no %s among the metrics", want)
		}
	}
	if strings.Contains(string(raw), "no/such") {
		t.Error("a client chooses the names of series")
	}
}
