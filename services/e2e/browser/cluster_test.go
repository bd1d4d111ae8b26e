package browser

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"image/png"
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
	"github.com/hecaton-dev/hecaton/services/e2e/browser/tooltest"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// registered waits until a gateway lists the user's node, connected and with its tools, and returns it.
func registered(t *testing.T, g *cluster.Gateway, user, node string) *nodev1.Node {
	t.Helper()
	var found *nodev1.Node
	testkit.Eventually(t, patience, func() bool {
		list, err := g.Tools.ListNodes(t.Context(), &toolv1.ListNodesRequest{UserId: user})
		if err != nil {
			return false
		}
		for _, each := range list.GetNodes() {
			if each.GetInfo().GetNodeId() == node && each.GetIsConnected() && len(each.GetInfo().GetAvailableTools()) > 0 {
				found = each
			}
		}
		return found != nil
	}, "%s of %s registers", node, user)
	return found
}

// TestExtensionAcrossPods holds the extension on one gateway and calls its tools through another.
func TestExtensionAcrossPods(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	holder, other := c.Gateways[0], c.Gateways[1]
	b := Start(t, Options{Server: "ws://" + holder.HTTP, User: "ana", Node: "ext_001"})
	node := registered(t, other, "ana", "ext_001")
	if len(node.GetInfo().GetAvailableTools()) != 6 || node.GetInfo().GetMaxConcurrentTasks() != 3 {
		t.Errorf("registered as %v", node.GetInfo())
	}
	site := ServeSite(t)
	call := tooltest.OverGRPC(other.Tools, "ana", "ext_001")

	TestTools(t, call, site)
	t.Run("acts on the tab it is told", func(t *testing.T) { testTabs(t, b, call, site) })
	t.Run("screenshot over REST", func(t *testing.T) { testRESTScreenshot(t, call, other, site) })
	t.Run("a caller who gives up stops the tool", func(t *testing.T) { testGivesUp(t, call, site) })
	t.Run("survives the end of its pod", func(t *testing.T) {
		// One address for both pods is a load balancer's to give; here the extension is told the other pod's.
		holder.Stop(t)
		options := b.OpenOptions(t)
		options.Eval(t, `{
			const form = document.getElementById("options");
			form.elements.server.value = "ws://`+other.HTTP+`";
			form.requestSubmit();
		}`, nil)
		options.WaitFor(t, status+`.includes("Hecaton: connected")`)
		goTo(t, call, site, "/next.html")
	})
}

func testRESTScreenshot(t *testing.T, call tooltest.Caller, g *cluster.Gateway, site *Site) {
	goTo(t, call, site, "/colors.html")
	r := g.Post(t, "/api/node/browser/tool", "ana", `{"tool_name":"screenshot","tool_args":{"full_page":true},"node_id":"ext_001"}`)
	var body struct {
		Success bool `json:"success"`
		Result  struct {
			ScreenshotURL string `json:"screenshot_url"`
		} `json:"result"`
	}
	if err := json.Unmarshal([]byte(r.Raw), &body); err != nil || !body.Success {
		t.Fatalf("%d %.300s", r.Status, r.Raw)
	}
	data, ok := strings.CutPrefix(body.Result.ScreenshotURL, "data:image/png;base64,")
	if !ok {
		t.Fatalf("screenshot_url is %.60s", body.Result.ScreenshotURL)
	}
	picture, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		t.Fatal(err)
	}
	wantWholePage(t, img)
}

func testGivesUp(t *testing.T, call tooltest.Caller, site *Site) {
	ctx, giveUp := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := call(ctx, "navigate", map[string]any{"url": site.URL("/slow.html?given-up")})
		ended <- err
	}()
	testkit.Eventually(t, patience, func() bool { return site.Hangs("given-up") }, "the page loads")
	giveUp()
	if err := <-ended; err == nil {
		t.Error("the call succeeded")
	}
	testkit.Eventually(t, patience, func() bool { return !site.Hangs("given-up") }, "the page stops loading")
}

// TestSameNodeTwice connects two browsers under one node id, on two pods: the later one stays, and the earlier one does
// not come back to throw it out.
func TestSameNodeTwice(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	first := Start(t, Options{Server: "ws://" + c.Gateways[0].HTTP, User: "ana", Node: "ext_001", NodeName: "first"})
	options := first.OpenOptions(t)
	options.WaitFor(t, status+`.includes("Hecaton: connected")`)
	second := Start(t, Options{Server: "ws://" + c.Gateways[1].HTTP, User: "ana", Node: "ext_001", NodeName: "second"})
	options.WaitFor(t, status+`.includes("Another browser has connected")`)
	second.OpenPopup(t).WaitFor(t, status+`.includes("Hecaton: connected")`)
	if name := registered(t, c.Gateways[0], "ana", "ext_001").GetInfo().GetNodeName(); name != "second" {
		t.Errorf("the node is %s", name)
	}
	tooltest.OverGRPC(c.Gateways[0].Tools, "ana", "ext_001").Run(t, "list_tabs", nil)
}
