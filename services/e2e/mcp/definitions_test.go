package mcp_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// definition is a tool as a pod lists it.
func definition(t *testing.T, g *cluster.Gateway, query, name string) any {
	t.Helper()
	list, _ := newer(t, g, query, "tools/list", "", "").at("result", "tools").([]any)
	for _, tool := range list {
		if at(tool, "name") == name {
			return tool
		}
	}
	return nil
}

// What a device says of its tools is what a client is told at any pod, behind whose word it is; marks for headers that nobody
// checks are not in it, and a device that gives names only is described by them.
func TestClientsAreToldWhatADeviceSaysOfItsTools(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	node := c.Gateways[0].Extension(t, "ana", "kitchen")
	node.Register(`"node_name":"Kitchen","available_tools":["pour","screenshot"],"tools":[{"name":"brew","title":"Brew","description":"Makes \u202ecoffee.",` +
		`"inputSchema":{"type":"object","properties":{"cups":{"type":"integer","x-mcp-header":"Cups"}},"required":["cups"]},"annotations":{"readOnlyHint":true,"idempotentHint":true}},` +
		`{"name":"bad","inputSchema":{"type":"array"}}]`)
	node.Next() // what was wrong
	for pod, g := range c.Gateways {
		brew := definition(t, g, "", "kitchen__brew")
		if at(brew, "title") != "Brew" || at(brew, "inputSchema", "properties", "cups", "type") != "integer" || at(brew, "inputSchema", "required", "0") != "cups" ||
			at(brew, "inputSchema", "properties", "cups", "x-mcp-header") != nil || at(brew, "annotations", "readOnlyHint") != true || at(brew, "annotations", "idempotentHint") != true {
			t.Errorf("pod %d: %v", pod, brew)
		}
		if d, _ := at(brew, "description").(string); !strings.HasPrefix(d, `On the browser "Kitchen" (node "kitchen"): Makes coffee.`) || !strings.Contains(d, "always means") {
			t.Errorf("pod %d: %s", pod, d)
		}
		for _, name := range []string{"bad", "pour", "screenshot"} {
			tool := definition(t, g, "", "kitchen__"+name)
			if d, _ := at(tool, "description").(string); at(tool, "inputSchema", "type") != "object" || !strings.Contains(d, "Kitchen") {
				t.Errorf("pod %d: %v", pod, tool)
			}
		}
		if got := listed(t, g, "?readonly=true"); !slices.Equal(got, []string{"devices", "kitchen__brew", "kitchen__screenshot"}) {
			t.Errorf("pod %d: %q", pod, got)
		}
		if r := newer(t, g, "?readonly=true", "tools/call", `"name":"kitchen__pour"`, ""); r.at("error", "code") != -32602.0 {
			t.Errorf("pod %d: what is hidden can be called: %s", pod, r.Raw)
		}
	}
}

// A device that says something else of its tools changes the list of every listener.
func TestANewDefinitionIsAChangeOfTheList(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	node := c.Gateways[0].Extension(t, "ana", "n1")
	node.Register(`"tools":[{"name":"brew","description":"Makes coffee.","inputSchema":{"type":"object"}}]`)
	body, h := newerRequest("subscriptions/listen", `"notifications":{"toolsListChanged":true}`, "")
	resp := open(t, c.Gateways[1], "POST", "", body, h)
	news := follow(t, resp)
	news.next(t) // acknowledged
	node.Register(`"tools":[{"name":"brew","description":"Makes tea.","inputSchema":{"type":"object"}}]`)
	for at(news.next(t), "method") != "notifications/tools/list_changed" {
	}
	if d, _ := at(definition(t, c.Gateways[1], "", "n1__brew"), "description").(string); !strings.Contains(d, "Makes tea.") {
		t.Error(d)
	}
}
