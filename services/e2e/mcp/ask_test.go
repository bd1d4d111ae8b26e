package mcp_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// twoBrowsers have the same tool.
func twoBrowsers(t *testing.T, c *cluster.Cluster) {
	for _, id := range []string{"n1", "n2"} {
		node := c.Gateways[0].Extension(t, "ana", id)
		node.Register(`"available_tools":["click"]`)
		says(node, id)
	}
}

func TestASelectionIsAskedForAcrossPods(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	twoBrowsers(t, c)
	const capable = `"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}`
	ask := func(g *cluster.Gateway, arguments, more string, changed ...string) answer {
		body, h := newerRequest("tools/call", `"name":"call_tool","arguments":`+arguments+more, "")
		body = strings.Replace(body, `"io.modelcontextprotocol/clientCapabilities":{}`, capable, 1)
		set(h, changed...)
		return request(t, g, http.MethodPost, "?mode=search", body, h)
	}
	r := ask(c.Gateways[0], `{"name":"click"}`, "")
	state, _ := r.at("result", "requestState").(string)
	if r.at("result", "resultType") != "input_required" || state == "" || r.at("result", "inputRequests", "node", "method") != "elicitation/create" ||
		r.at("result", "inputRequests", "node", "params", "requestedSchema", "properties", "node", "enum", "1") != "n2" {
		t.Fatal(r.Raw)
	}
	with := func(response string) string {
		return `,"requestState":"` + state + `","inputResponses":{` + response + `}`
	}
	const chosen = `"node":{"action":"accept","content":{"node":"n2"}}`
	if r := ask(c.Gateways[1], `{"name":"click"}`, with(chosen)); r.text() != "n2 click" {
		t.Errorf("the answer at another pod: %s", r.Raw)
	}
	if r := ask(c.Gateways[1], `{"name":"click"}`, with(`"else":{}`)); r.at("result", "resultType") != "input_required" {
		t.Errorf("a missing answer is not asked for again: %s", r.Raw)
	}
	for name, r := range map[string]answer{
		"other arguments": ask(c.Gateways[1], `{"name":"click","arguments":{"x":1}}`, with(chosen)),
		"a bit flipped":   ask(c.Gateways[1], `{"name":"click"}`, strings.Replace(with(chosen), state, state[:40]+string(state[40]^1)+state[41:], 1)),
		"another user":    ask(c.Gateways[1], `{"name":"click"}`, with(chosen), "X-User-Id", "eve"),
		"declined":        ask(c.Gateways[1], `{"name":"click"}`, with(`"node":{"action":"decline"}`)),
		"none of them":    ask(c.Gateways[1], `{"name":"click"}`, with(`"node":{"action":"accept","content":{"node":"n3"}}`)),
		"no object":       ask(c.Gateways[1], `{"name":"click"}`, with(`"node":{"action":"accept","content":[]}`)),
	} {
		if r.at("result", "isError") != true {
			t.Errorf("%s: %s", name, r.Raw)
		}
	}
}

func TestAnOlderClientIsAskedOnItsStream(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	twoBrowsers(t, c)
	call := `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"call_tool","arguments":{"name":"click"}}}`
	for _, version := range []string{"2025-06-18", "2025-11-25"} {
		s := session(t, c.Gateways[0], version, `"elicitation":{}`)
		for _, g := range c.Gateways {
			resp := open(t, c.Gateways[0], http.MethodPost, "?mode=search", call, s)
			stream := follow(t, resp)
			asked := stream.next(t)
			id, _ := asked["id"].(string)
			if asked["method"] != "elicitation/create" || id == "" {
				t.Fatalf("%v", asked)
			}
			answered := `{"jsonrpc":"2.0","id":"` + id + `","result":{"action":"accept","content":{"node":"n1"}}}`
			other := s.Clone()
			other.Set("Mcp-Session-Id", session(t, g, version, "").Get("Mcp-Session-Id"))
			request(t, g, http.MethodPost, "", strings.Replace(answered, "n1", "n2", 1), other)
			if r := request(t, g, http.MethodPost, "", answered, s); r.Status != 202 {
				t.Errorf("%d %s", r.Status, r.Raw)
			}
			if m := stream.next(t); m["id"] != 7.0 || at(m, "result", "content", "0", "text") != "n1 click" {
				t.Errorf("%v", m)
			}
		}
		plain := session(t, c.Gateways[0], version, "")
		if r := request(t, c.Gateways[1], http.MethodPost, "?mode=search", call, plain); r.at("result", "_meta", "dev.hecaton/reason") != "REQUIRES_SELECTION" {
			t.Errorf("a client that cannot ask: %s", r.Raw)
		}
	}
}
