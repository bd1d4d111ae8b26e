package zeus_test

import (
	"testing"

	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

func TestACallCrossesTwoPods(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	ext := c.Gateways[0].Extension(t, "abc123", "ext_001")
	ext.Send(`{"type":"register","node_id":"ext_001","node_name":"Chrome Extension","node_type":"extension","available_tools":["screenshot"]}`)
	ext.Expect(`{"type":"registered","node_id":"ext_001","success":true}`)
	ext.Serve(func(call cluster.ToolCall) string { return cluster.Text("from " + call.Params.Name) })
	for i, g := range c.Gateways {
		resp, err := g.Tools.CallTool(t.Context(), &toolv1.CallToolRequest{Call: &toolv1.Call{UserId: "abc123", NodeId: "ext_001", ToolName: "screenshot"}})
		if err != nil {
			t.Fatalf("gateway %d: %v", i, err)
		}
		if string(resp.GetAnswer().GetResultJson()) != cluster.Text("from screenshot") {
			t.Fatalf("gateway %d: %v", i, resp)
		}
		r := g.Post(t, "/api/node/browser/tool", "abc123", `{"tool_name":"screenshot"}`)
		if r.Status != 200 || r.Body["success"] != true {
			t.Fatalf("gateway %d: %d %s", i, r.Status, r.Raw)
		}
	}
}
