package hostile_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// bodyRoutes are all endpoints that read JSON, as METHOD PATH.
var bodyRoutes = []string{
	"POST /api/agent/invoke", "POST /api/agent/resume", "PUT /api/agent/approval-settings", "POST /api/agent/sessions/s/cancel",
	"POST /api/tools", "PUT /api/tools/t", "POST /api/tools/call", "POST /api/tools/mcp/validate", "POST /api/tools/oauth/exchange",
	"POST /api/node/bind", "POST /api/node/browser/tool", "POST /node/desktop/tool",
}

// TestABodyCostsAGatewayNoMoreThanItsBytes: a megabyte that nests, or lists what is small as text and large in memory, is
// refused by a sentence, and the pod allocates at most four times as much for it.
func TestABodyCostsAGatewayNoMoreThanItsBytes(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Gateways: -1, GatewayProcesses: 1, Orchestrators: 1})
	g := c.Gateways[0]
	const n = 200_000
	bodies := map[string]string{
		"objects":  strings.Repeat(`{"z":`, n) + "1" + strings.Repeat("}", n),
		"lists":    strings.Repeat("[", n) + strings.Repeat("]", n),
		"both":     strings.Repeat(`{"z":[`, n) + strings.Repeat("]}", n),
		"inside":   `{"message":"m","session_id":"s","tool_name":"t","tool_args":` + strings.Repeat(`{"z":`, n) + "1" + strings.Repeat("}", n+1),
		"unclosed": strings.Repeat(`{"z":`, n),
		"members":  `{` + strings.Repeat(`"\u007a":{},`, n/2) + `"z":1}`,
		"entries":  `{"tools":[` + strings.Repeat(`{},`, n) + `{}],"allowlist":[` + strings.Repeat(`"",`, n) + `""]}`,
		"bad":      `{"headers":` + strings.Repeat(`[[],`, 30) + strings.Repeat("1,", n),
	}
	g.Get(t, "/api/tools", "u") // whatever is made once
	for _, route := range bodyRoutes {
		method, path, _ := strings.Cut(route, " ")
		for name, body := range bodies {
			before := metric(t, g, "go_memstats_alloc_bytes_total")
			r := g.Do(t, method, path, "u", body, http.Header{"Content-Type": {"application/json"}})
			cost := metric(t, g, "go_memstats_alloc_bytes_total") - before
			if r.Status != http.StatusBadRequest && r.Status != http.StatusRequestEntityTooLarge {
				t.Errorf("%s, %s: %d %.200s", route, name, r.Status, r.Raw)
			}
			// What is beside it are the two looks, and what the pod does of itself.
			if limit := float64(testkit.MemoryLimit(4*len(body) + 2*mib)); cost > limit {
				t.Errorf("%s, %s: %.0f bytes for %d", route, name, cost, len(body))
			}
		}
	}
}

// TestARouteNamesItsLimit: who sends too much hears how much would do.
func TestARouteNamesItsLimit(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Gateways: 1, Orchestrators: 1})
	for route, limit := range map[string]string{
		"POST /api/node/bind": "16384", "POST /api/tools/oauth/exchange": "16384", "POST /api/tools/mcp/validate": "16384", "PUT /api/tools/t": "16384",
		"POST /api/agent/sessions/s/cancel": "16384", "PUT /api/agent/approval-settings": "65536",
	} {
		method, path, _ := strings.Cut(route, " ")
		r := c.Gateways[0].Do(t, method, path, "u", `{"x":"`+strings.Repeat("x", 70<<10)+`"}`, http.Header{"Content-Type": {"application/json"}})
		problem(t, route, r, http.StatusRequestEntityTooLarge, "bytes")
		if r.Body["reason"] != "TOO_LARGE" || !strings.Contains(r.Raw, limit) {
			t.Errorf("%s: %s", route, r.Raw)
		}
	}
}
