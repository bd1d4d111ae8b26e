package clients

import (
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
	"github.com/hecaton-dev/hecaton/services/e2e/browser/tooltest"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
	gateway "github.com/hecaton-dev/hecaton/services/gateway/app"
)

// across waits until the sample's node is listed by the pod that does not hold it, and calls through that pod.
func across(t *testing.T, g *cluster.Gateway, node string) tooltest.Caller {
	t.Helper()
	testkit.Eventually(t, time.Minute, func() bool {
		list, err := g.Tools.ListNodes(t.Context(), &toolv1.ListNodesRequest{UserId: User})
		if err != nil || len(list.GetNodes()) != 1 {
			return false
		}
		info := list.GetNodes()[0].GetInfo()
		return info.GetNodeId() == node && len(info.GetAvailableTools()) > 0
	}, "%s registers", node)
	return tooltest.OverGRPC(g.Tools, User, node)
}

func TestJavaScriptSampleAcrossPods(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Gateway: func(_ int, c *gateway.Config) { c.Pages.Origins = []string{"http://127.0.0.1:*"} }})
	page := StartJavaScript(t, "ws://"+c.Gateways[0].HTTP)
	TestJavaScript(t, across(t, c.Gateways[1], ExtensionNode), page)
}

func TestPythonSampleAcrossPods(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	StartPython(t, "ws://"+c.Gateways[0].HTTP)
	TestPython(t, across(t, c.Gateways[1], DesktopNode))
}
