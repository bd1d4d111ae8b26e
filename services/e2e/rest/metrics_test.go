package rest_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

func TestCallsAndConnectionsAreCountedWithoutNames(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	a, b := c.Gateways[0], c.Gateways[1]
	node := a.Desktop(t, "ana-the-user", "desk-the-node")
	node.Silent()
	node.Serve(func(cluster.ToolCall) string { return `{}` })
	b.Post(t, "/api/node/desktop/tool", "ana-the-user", `{"tool_name":"t","node_id":"desk-the-node"}`)
	b.Post(t, "/api/node/desktop/tool", "ana-the-user", `{"tool_name":"t","node_id":"nobody"}`)
	for admin, lines := range map[string][]string{
		a.Admin: {`hecaton_gateway_connections{client="desktop"} 1`, `hecaton_gateway_connections_open 1`, `hecaton_gateway_drain_state 0`, `hecaton_gateway_drain_connections 0`},
		b.Admin: {
			`hecaton_gateway_calls_total{outcome="answered",reason=""} 1`,
			`hecaton_gateway_calls_total{outcome="not_delivered",reason="NODE_NOT_CONNECTED"} 1`,
			`hecaton_gateway_calls_total{outcome="unknown",reason="HOLDER_LOST"} 0`,
			`hecaton_gateway_call_duration_seconds_count{outcome="answered"} 1`,
		},
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+admin+"/metrics", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		page, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range lines {
			if !strings.Contains(string(page), line+"\n") {
				t.Errorf("no line %s", line)
			}
		}
		if strings.Contains(string(page), "ana-the-user") || strings.Contains(string(page), "desk-the-node") {
			t.Error("a name in the metrics")
		}
	}
	http.DefaultClient.CloseIdleConnections()
}
