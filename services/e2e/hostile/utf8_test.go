package hostile_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// TestWhatIsNoTextIsABadRequest: wherever it stands in a request, and whatever serves the path.
func TestWhatIsNoTextIsABadRequest(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Gateways: 1, Orchestrators: 1})
	g := c.Gateways[0]
	for _, bad := range []string{"%ff", "a%c3", "%ed%a0%80", "%c0%af", "x%80y"} {
		for _, request := range []string{
			"GET /api/tools/@", "PUT /api/tools/@", "DELETE /api/tools/@", "GET /api/agent/sessions/@", "GET /api/agent/sessions/@/messages", "GET /api/agent/sessions/@/events",
			"DELETE /api/agent/sessions/@", "POST /api/agent/sessions/@/cancel", "GET /api/workspace/files/@", "PUT /api/workspace/files/a/@", "DELETE /api/workspace/files/@",
			"GET /api/workspace/files?prefix=@", "GET /api/agent/sessions?cursor=@", "GET /api/agent/sessions?@=1", "GET /api/node/session/@", "GET /api/node/devices?node_type=@",
			"GET /api/tools?user_id=@", "GET /nothing/@",
		} {
			method, path, _ := strings.Cut(strings.ReplaceAll(request, "@", bad), " ")
			r := g.Do(t, method, path, "u", "", http.Header{"Content-Type": {"application/json"}})
			problem(t, request+" with "+bad, r, http.StatusBadRequest, "UTF-8")
		}
	}
	for _, name := range []string{"Content-Type", "Idempotency-Key", "X-User-Id"} {
		r := g.Do(t, "PUT", "/api/workspace/files/a", "u", "x", http.Header{"Content-Type": {"application/json"}, name: {"a\xff"}})
		if name == "X-User-Id" { // Do has set it once more
			r = g.Do(t, "PUT", "/api/workspace/files/a", "", "x", http.Header{"Content-Type": {"application/json"}, name: {"a\xff"}})
		}
		problem(t, name, r, http.StatusBadRequest, "UTF-8")
	}
	// What is text stays what it is.
	if r := g.Do(t, "PUT", "/api/workspace/files/%C3%A9%E2%82%AC%F0%9F%98%80", "u", "x", nil); r.Status != http.StatusOK {
		t.Errorf("%d %s", r.Status, r.Raw)
	}
}
