package mcp_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

func TestAnOlderClientGoesOnAfterItsPodWasKilledInMidCall(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Gateways: 1, GatewayProcesses: 1})
	kept, killed := c.Gateways[0], c.Gateways[1]
	node := kept.Extension(t, "ana", "n1")
	node.Register(chrome)
	s := session(t, killed, "2025-11-25", "")
	call, done, _ := start(t, killed, node, s, olderCall("5", ""))
	killed.Process.Kill()
	if a, answered := wait(t, done); answered {
		t.Errorf("answered by the dead: %s", a.Raw)
	}
	node.Answer(call, cluster.Text("late"))
	says(node, "n1")
	testkit.Eventually(t, 10*time.Second, func() bool {
		return older(t, kept, s, "", "tools/call", `"name":"n1__click"`).text() == "n1 click"
	}, "the session does not go on at another pod")
}

func TestWithoutTheBusACallSaysSo(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	node := c.Gateways[0].Extension(t, "ana", "n1")
	node.Register(chrome)
	says(node, "n1")
	s := session(t, c.Gateways[1], "2025-06-18", "")
	c.NATS.Stop()
	r := newer(t, c.Gateways[1], "", "tools/call", `"name":"n1__click"`, `"dev.hecaton/timeout-ms":3000`)
	if reason := r.at("result", "_meta", "dev.hecaton/reason"); r.Status != 200 || r.at("result", "isError") != true || reason == nil {
		t.Errorf("%d %s", r.Status, r.Raw)
	}
	if r := older(t, c.Gateways[1], s, "", "ping", ""); r.Status != 200 || r.at("result") == nil {
		t.Errorf("%d %s", r.Status, r.Raw)
	}
}

func TestAToolThatIsGoneBetweenListAndCall(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Orchestrators: 1})
	node := c.Gateways[0].Extension(t, "ana", "n1")
	node.Register(`"available_tools":["click","stay"]`)
	says(node, "n1")
	same(t, "before", listed(t, c.Gateways[1], ""), "click", "devices", "stay")
	node.Send(`{"type":"register","available_tools":["press","stay"]}`)
	testkit.Eventually(t, 5*time.Second, func() bool { return slices.Contains(listed(t, c.Gateways[1], ""), "press") }, "the change is not listed")
	r := newer(t, c.Gateways[1], "", "tools/call", `"name":"click"`, "")
	if r.at("result", "_meta", "dev.hecaton/reason") != "TOOL_NOT_OFFERED" || !strings.Contains(r.text(), "did not run") {
		t.Errorf("%d %s", r.Status, r.Raw)
	}
	same(t, "after", listed(t, c.Gateways[1], ""), "devices", "press", "stay")
}

func TestOnesOwnUsersToolsOnly(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Orchestrators: 1})
	node := c.Gateways[0].Extension(t, "ana", "n1")
	node.Register(chrome)
	listed(t, c.Gateways[0], "")
	for _, name := range []string{"click", "n1__click"} {
		if r := newer(t, c.Gateways[1], "", "tools/call", `"name":"`+name+`"`, "", "X-User-Id", "eve"); r.at("error", "code") != -32602.0 {
			t.Errorf("%s: %s", name, r.Raw)
		}
	}
	if r := newer(t, c.Gateways[1], "", "tools/list", "", "", "X-User-Id", "eve"); len(r.at("result", "tools").([]any)) != 1 {
		t.Error(r.Raw)
	}
	node.Silent()
}

func TestManyToolsComeInPages(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Gateways: 1, Orchestrators: 1})
	for _, id := range []string{"n1", "n2"} {
		tools := make([]string, 400)
		for i := range tools {
			tools[i] = `"` + strings.Repeat("t", i%40+1) + id + strings.Repeat("x", i/40) + `"`
		}
		c.Gateways[0].Extension(t, "ana", id).Register(`"available_tools":[` + strings.Join(tools, ",") + `]`)
	}
	if got := listed(t, c.Gateways[0], ""); len(got) != 801 {
		t.Errorf("%d tools", len(got))
	}
	first := request(t, c.Gateways[0], http.MethodGet, "", "", headers("Mcp-Protocol-Version", "2026-07-28"))
	if first.Status != http.StatusMethodNotAllowed {
		t.Error(first.Status)
	}
}
