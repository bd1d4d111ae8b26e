package mcp_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// listed are the names that a list has.
func listed(t testing.TB, g *cluster.Gateway, query string) (names []string) {
	t.Helper()
	cursor := ""
	for {
		r := newer(t, g, query, "tools/list", cursor, "")
		tools, ok := r.at("result", "tools").([]any)
		if !ok {
			t.Fatal(r.Raw)
		}
		for _, tool := range tools {
			names = append(names, at(tool, "name").(string))
		}
		next, more := r.at("result", "nextCursor").(string)
		if !more {
			return names
		}
		cursor = `"cursor":"` + next + `"`
	}
}

func same(t testing.TB, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

func says(node *cluster.Client, who string) {
	node.Serve(func(call cluster.ToolCall) string { return cluster.Text(who + " " + call.Params.Name) })
}

func TestANameMeansOneDeviceForEver(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Orchestrators: 1})
	a, b := c.Gateways[0], c.Gateways[1]
	first := a.Extension(t, "ana", "n1")
	first.Register(`"available_tools":["click"]`)
	says(first, "n1")
	same(t, "alone", listed(t, b, ""), "click", "devices")
	second := b.Extension(t, "ana", "n2")
	second.Register(`"available_tools":["click","type"]`)
	says(second, "n2")
	for _, g := range c.Gateways {
		same(t, "two", listed(t, g, ""), "click", "devices", "n2__click", "type")
	}
	first.Close()
	testkit.Eventually(t, 5*time.Second, func() bool { return len(listed(t, a, "")) == 3 }, "n1 is still listed")
	same(t, "the other alone", listed(t, a, ""), "devices", "n2__click", "type")
	for _, g := range c.Gateways {
		if r := newer(t, g, "", "tools/call", `"name":"click"`, ""); r.at("result", "isError") != true || !strings.Contains(r.text(), "n2__click") {
			t.Errorf("the name of an absent device: %s", r.Raw)
		}
		if r := newer(t, g, "", "tools/call", `"name":"type"`, ""); r.text() != "n2 type" {
			t.Error(r.Raw)
		}
	}
	// A gateway and an orchestrator that know nothing of it yet.
	c.Orchestrators[0].Stop(t)
	if r := newer(t, b, "", "tools/call", `"name":"n2__click"`, ""); r.text() != "n2 click" {
		t.Errorf("without orchestrators: %s", r.Raw)
	}
	fresh := c.StartGateway()
	same(t, "without orchestrators, at a new pod", listed(t, fresh, ""), "devices", "n2__click", "n2__type")
	c.Orchestrators[0].Start()
	testkit.Eventually(t, 10*time.Second, func() bool { return slices.Contains(listed(t, fresh, ""), "type") }, "the names are not back")
	if r := newer(t, fresh, "", "tools/call", `"name":"click"`, ""); r.at("result", "_meta", "dev.hecaton/reason") != "NODE_NOT_CONNECTED" {
		t.Errorf("after a restart: %s", r.Raw)
	}
	back := fresh.Extension(t, "ana", "n1")
	back.Register(`"available_tools":["click"]`)
	says(back, "n1")
	if r := newer(t, fresh, "", "tools/call", `"name":"click"`, ""); r.text() != "n1 click" {
		t.Error(r.Raw)
	}
}

func TestTwoDevicesThatComeTogetherHaveLongNames(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Orchestrators: 1})
	g := c.Gateways[0]
	for _, id := range []string{"n1", "n2"} {
		node := g.Extension(t, "ana", id)
		node.Register(`"available_tools":["click","devices","workflow_x"]`)
		says(node, id)
	}
	same(t, "two at once", listed(t, g, ""), "devices", "n1__click", "n1__devices", "n1__workflow_x", "n2__click", "n2__devices", "n2__workflow_x")
	if r := newer(t, g, "", "tools/call", `"name":"click"`, ""); r.at("error", "code") != -32602.0 {
		t.Errorf("a name that nobody has: %s", r.Raw)
	}
	if r := newer(t, c.Gateways[1], "", "tools/call", `"name":"n2__devices"`, ""); r.text() != "n2 devices" {
		t.Error(r.Raw)
	}
}

func TestNamesAreCleanShortAndNeverMerge(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Orchestrators: 1})
	long := strings.Repeat("a", 100)
	tools := []string{"größe", "grosse", "gr sse", "a.b", "a/b", "a__b", "_x", long + "1", long + "2", "日本", "n2__click", strings.Repeat("b", 60), strings.Repeat("b", 61)}
	ids := []string{"n1", "n1_", "n1__a", "a device with a very long name that goes on and on", "b"}
	for _, id := range ids {
		node := c.Gateways[0].Extension(t, "ana", id)
		node.Register(`"available_tools":["` + strings.Join(tools, `","`) + `"]`)
		says(node, id)
	}
	ok := regexp.MustCompile(`^[a-zA-Z0-9_-]{1,60}$`)
	names := listed(t, c.Gateways[1], "")
	if len(names) != 1+len(ids)*len(tools) || !slices.IsSorted(names) {
		t.Errorf("%d names, sorted %v", len(names), slices.IsSorted(names))
	}
	heard := map[string]bool{}
	for _, name := range names {
		if !ok.MatchString(name) || heard[name] {
			t.Errorf("the name %q is bad or stands there twice", name)
		}
		heard[name] = true
		if name == "devices" {
			continue
		}
		r := newer(t, c.Gateways[0], "", "tools/call", `"name":"`+name+`"`, "")
		if heard[r.text()] || r.at("result", "isError") != false {
			t.Errorf("%s is a second name of %s", name, r.Raw)
		}
		heard[r.text()] = true
	}
}

func TestFiltersHideAndRefuse(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Orchestrators: 1})
	g := c.Gateways[1]
	one := c.Gateways[0].Extension(t, "ana", "n1")
	one.Register(`"available_tools":["click","look"]`)
	says(one, "n1")
	listed(t, g, "")
	two := c.Gateways[0].Desktop(t, "ana", "d1")
	two.Register(`"available_tools":["click","run"]`)
	says(two, "d1")
	for query, want := range map[string][]string{
		"":                            {"click", "d1__click", "devices", "look", "run"},
		"?tools=click":                {"click", "d1__click", "devices"},
		"?tools=d1__click,look":       {"d1__click", "devices", "look"},
		"?tools=":                     {"devices"},
		"?nodes=d1":                   {"d1__click", "devices", "run"},
		"?nodes=d1&nodes=n1":          {"click", "d1__click", "devices", "look", "run"},
		"?nodes=nobody":               {"devices"},
		"?nodes=n1&tools=click":       {"click", "devices"},
		"?readonly=true":              {"devices"},
		"?readonly=false":             {"click", "d1__click", "devices", "look", "run"},
		"?mode=search":                {"call_tool", "devices", "find_tools"},
		"?mode=search&nodes=n1":       {"call_tool", "devices", "find_tools"},
		"?mode=search&readonly=false": {"call_tool", "devices", "find_tools"},
	} {
		got := listed(t, g, query)
		same(t, query, got, want...)
		for _, name := range []string{"click", "n1__click", "d1__click", "devices", "look", "run", "find_tools"} {
			r := newer(t, g, query, "tools/call", `"name":"`+name+`"`, "")
			long := strings.HasPrefix(name, "n1__") && (slices.Contains(want, "click") && !strings.Contains(query, "tools=d1"))
			if refused := r.at("error", "code") == -32602.0; refused == (slices.Contains(want, name) || long) {
				t.Errorf("%s of %s: %s", name, query, r.Raw)
			}
		}
	}
	if r := newer(t, g, "?nodes=d1", "tools/call", `"name":"devices"`, ""); strings.Contains(r.Raw, "n1") || !strings.Contains(r.text(), `"node":"d1"`) {
		t.Errorf("devices shows what is hidden: %s", r.Raw)
	}
}

func TestSearchMode(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Orchestrators: 1})
	g := c.Gateways[1]
	for _, id := range []string{"n1", "n2"} {
		node := c.Gateways[0].Extension(t, "ana", id)
		node.Register(fmt.Sprintf(`"node_name":"Browser %s","available_tools":["click","only_%s"]`, id, id))
		node.Serve(func(call cluster.ToolCall) string {
			return cluster.Text(id + " " + call.Params.Name + string(call.Params.Arguments))
		})
	}
	call := func(query, arguments string) answer {
		return newer(t, g, query, "tools/call", `"name":"call_tool","arguments":`+arguments, "")
	}
	found := newer(t, g, "?mode=search", "tools/call", `"name":"find_tools","arguments":{"query":"ONLY n2"}`, "")
	if !strings.HasPrefix(found.text(), `{"tools":[{"name":"only_n2"`) {
		t.Error(found.Raw)
	}
	if r := call("?mode=search", `{"name":"only_n1","arguments":{"a":1}}`); r.text() != `n1 only_n1{"a":1}` {
		t.Error(r.Raw)
	}
	if r := call("?mode=search", `{"name":"click","node":"n2"}`); r.text() != `n2 click{}` {
		t.Error(r.Raw)
	}
	if r := call("?mode=search", `{"name":"click"}`); r.at("result", "_meta", "dev.hecaton/reason") != "REQUIRES_SELECTION" || !strings.Contains(r.text(), "n1, n2") {
		t.Errorf("of two devices one was taken: %s", r.Raw)
	}
	for _, hidden := range []string{`{"name":"only_n2"}`, `{"name":"n2__click"}`, `{"name":"click","node":"n2"}`, `{"name":"find_tools"}`, `{}`, `{"name":7}`} {
		if r := call("?mode=search&nodes=n1", hidden); r.at("result", "isError") != true {
			t.Errorf("%s: %s", hidden, r.Raw)
		}
	}
}
