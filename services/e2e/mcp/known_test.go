package mcp_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// A desktop's published workflows, and the tools that mean the same on any desktop, have plain names for who asks for them.
func TestWorkflowsAndWellKnownToolsHavePlainNames(t *testing.T) {
	t.Parallel()
	c, _ := agents(t)
	desk := c.Gateways[0].Desktop(t, "ana", "desk")
	desk.Register(`"node_name":"Desk","available_tools":["list_workflows","hitl_prompt","desktop_exec","browser_read","read_file"],"tools":[` +
		`{"name":"workflow_fetch_invoice","description":"Download an invoice","inputSchema":{"type":"object","properties":{"month":{"type":"string","description":"YYYY-MM"}},"required":["month"]}}]`)
	desk.Serve(func(call cluster.ToolCall) string {
		return cluster.Text("desk " + call.Params.Name + " " + string(call.Params.Arguments))
	})
	const plain = "browser_read desktop_exec hitl_prompt list_workflows workflow_fetch_invoice"
	for pod, g := range c.Gateways {
		got := listed(t, g, withAgents)
		for name := range strings.FieldsSeq(plain) {
			if !slices.Contains(got, name) || !slices.Contains(got, "desk__"+name) {
				t.Errorf("pod %d: %s is not in %q", pod, name, got)
			}
		}
		if got := listed(t, g, ""); slices.Contains(got, "workflow_fetch_invoice") {
			t.Errorf("pod %d: nobody asked for them: %q", pod, got)
		}
		list, _ := newer(t, g, withAgents, "tools/list", "", "").at("result", "tools").([]any)
		for _, tool := range list {
			if at(tool, "name") != "workflow_fetch_invoice" {
				continue
			}
			if at(tool, "inputSchema", "properties", "month", "description") != "YYYY-MM" || at(tool, "description") != `Download an invoice It runs on the node "Desk" (desktop).` {
				t.Errorf("%v", tool)
			}
		}
		r := newer(t, g, withAgents, "tools/call", `"name":"workflow_fetch_invoice","arguments":{"month":"2026-11"}`, "")
		if r.text() != `desk workflow_fetch_invoice {"month":"2026-11"}` {
			t.Error(r.Raw)
		}
	}

	// With a second one the person says which is meant, and a client that cannot ask hears which name says it.
	other := c.Gateways[1].Desktop(t, "ana", "laptop")
	other.Register(`"available_tools":["desktop_exec"]`)
	other.Serve(func(call cluster.ToolCall) string { return cluster.Text("laptop " + call.Params.Name) })
	const exec = `"name":"desktop_exec","arguments":{"command":"ls"}`
	r := newer(t, c.Gateways[0], withAgents, "tools/call", exec, "")
	if r.at("result", "isError") != true || r.at("result", "_meta", "dev.hecaton/reason") != "REQUIRES_SELECTION" || !strings.Contains(r.text(), "desk__desktop_exec") {
		t.Error(r.Raw)
	}
	r = newer(t, c.Gateways[0], withAgents, "tools/call", exec, elicits)
	state, _ := r.at("result", "requestState").(string)
	r = newer(t, c.Gateways[1], withAgents, "tools/call", exec+`,"requestState":"`+state+`","inputResponses":{"node":{"action":"accept","content":{"node":"laptop"}}}`, elicits)
	if r.text() != "laptop desktop_exec" {
		t.Error(r.Raw)
	}

	// A device that is away: the name is one, and the call says what is missing.
	r = newer(t, c.Gateways[1], withAgents, "tools/call", `"name":"workflow_unheard_of"`, "")
	if r.at("result", "isError") != true || r.at("result", "_meta", "dev.hecaton/reason") != "NODE_NOT_CONNECTED" {
		t.Error(r.Raw)
	}
}
