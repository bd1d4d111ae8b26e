package clients

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/e2e/browser/stubgateway"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// next waits for the sample to register.
func next(t *testing.T, g *stubgateway.Gateway) *stubgateway.Node {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	n, err := g.Next(ctx)
	if err != nil {
		t.Fatalf("the sample did not register: %v", err)
	}
	return n
}

func TestJavaScriptSample(t *testing.T) {
	t.Parallel()
	g := stubgateway.Start(t)
	page := StartJavaScript(t, g.URL())
	n := next(t, g)
	if n.Path != "/ws/extension" || n.ClientID != "user_"+User || n.NodeID != ExtensionNode {
		t.Errorf("connected to %s as %s, node %s", n.Path, n.ClientID, n.NodeID)
	}
	if r := n.Register; r.NodeID != ExtensionNode || r.NodeType != "extension" || !slices.Contains(r.AvailableTools, "click") {
		t.Errorf("register: %+v", r)
	}
	TestJavaScript(t, n.Call, page)
}

func TestPythonSample(t *testing.T) {
	t.Parallel()
	g := stubgateway.Start(t)
	StartPython(t, g.URL())
	n := next(t, g)
	if n.Path != "/ws/desktop" || n.ClientID != "desktop_"+User || n.NodeID != DesktopNode {
		t.Errorf("connected to %s as %s, node %s", n.Path, n.ClientID, n.NodeID)
	}
	if r := n.Register; r.NodeID != DesktopNode || r.NodeType != "desktop" || !slices.Contains(r.AvailableTools, "read_file") {
		t.Errorf("register: %+v", r)
	}
	TestPython(t, n.Call)
}
