package browser

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/e2e/browser/stubgateway"
	"github.com/hecaton-dev/hecaton/services/e2e/browser/tooltest"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// next waits for the next node of a stub gateway.
func next(t testing.TB, g *stubgateway.Gateway) *stubgateway.Node {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	n, err := g.Next(ctx)
	if err != nil {
		t.Fatalf("no node connected: %v", err)
	}
	return n
}

// start runs a Chromium whose extension has registered with a stub gateway.
func start(t testing.TB, node string) (*Browser, *stubgateway.Gateway, *stubgateway.Node) {
	t.Helper()
	g := stubgateway.Start(t)
	b := Start(t, Options{Server: g.URL(), User: "abc123", Node: node})
	return b, g, next(t, g)
}

func TestExtension(t *testing.T) {
	t.Parallel()
	b, _, n := start(t, "ext_001")
	site := ServeSite(t)
	call := tooltest.Caller(n.Call)

	t.Run("registers", func(t *testing.T) { testRegister(t, n) })
	TestTools(t, call, site)
	t.Run("acts on the tab it is told", func(t *testing.T) { testTabs(t, b, call, site) })
	t.Run("unknown tool", func(t *testing.T) { call.Fail(t, -32601, "fly", "fly", nil) })
	t.Run("pictures at the same time", func(t *testing.T) { testPicturesTogether(t, call, site) })
	t.Run("leaves a page that still loads", func(t *testing.T) { testLeaveLoading(t, b, call, site) })
	t.Run("cancel stops a navigation", func(t *testing.T) { testCancel(t, n, call, site) })
	t.Run("no more at once than it said", func(t *testing.T) { testLimit(t, b, n, call, site) })
	t.Run("no call runs twice", func(t *testing.T) { testRepeatedCall(t, n, call, site) })
	t.Run("workflows are answered", func(t *testing.T) { testWorkflows(t, n) })
	t.Run("survives what it does not understand", func(t *testing.T) { testOddFrames(t, n, call) })
	t.Run("pages without scripts", func(t *testing.T) { testClosedPage(t, b, call) })
}

func testRegister(t *testing.T, n *stubgateway.Node) {
	if n.Path != "/ws/extension" || n.ClientID != "user_abc123" || n.NodeID != "ext_001" {
		t.Errorf("connected to %s as %s, node %s", n.Path, n.ClientID, n.NodeID)
	}
	if want := "chrome-extension://" + ExtensionID; n.Origin != want {
		t.Errorf("want the origin %s, got %s", want, n.Origin)
	}
	r := n.Register
	if r.NodeID != "ext_001" || r.NodeType != "extension" || r.OS == "" || r.AppVersion == "" || r.MaxConcurrentTasks != 3 {
		t.Errorf("register: %+v", r)
	}
	if !strings.Contains(r.NodeName, " on "+r.OS) {
		t.Errorf("want a name that says what and where, got %q", r.NodeName)
	}
	tools := []string{"navigate", "click", "type", "screenshot", "get_text", "list_tabs"}
	if !slices.Equal(r.AvailableTools, tools) {
		t.Errorf("available_tools: %v", r.AvailableTools)
	}
}
