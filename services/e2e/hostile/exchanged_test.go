package hostile_test

import (
	"errors"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// A call that names a connection reaches that one, on whichever pod, and no device that has taken the node's place since,
// whatever it says of itself.
func TestADeviceThatReplacesAnotherGetsNoCall(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	const says = `"node_name":"laptop","os":"linux","available_tools":["pay"]`
	desktop := func(g *cluster.Gateway, name string) *cluster.Client {
		n := g.Desktop(t, "ana", "desk")
		n.Register(says)
		n.Serve(func(cluster.ToolCall) string { return cluster.Text(name) })
		return n
	}
	call := func(g *cluster.Gateway, epoch int64) (string, error) {
		resp, err := g.Tools.CallTool(t.Context(), &toolv1.CallToolRequest{Call: &toolv1.Call{
			UserId: "ana", NodeId: "desk", ToolName: "pay", Epoch: epoch,
		}})
		return string(resp.GetAnswer().GetResultJson()), errs.FromGRPC(err)
	}
	epoch := func() int64 {
		resp, err := c.Gateways[0].Tools.ResolveNode(t.Context(), &toolv1.ResolveNodeRequest{UserId: "ana", SessionId: "s"})
		if err != nil || resp.GetNode().GetEpoch() == 0 {
			t.Fatalf("%v, %v", resp, err)
		}
		return resp.GetNode().GetEpoch()
	}

	first := desktop(c.Gateways[0], "the first")
	shown := epoch()
	for i, g := range c.Gateways {
		if got, err := call(g, shown); err != nil || got != cluster.Text("the first") {
			t.Errorf("gateway %d: %s, %v", i, got, err)
		}
	}
	desktop(c.Gateways[1], "the other")
	first.Ended()
	for i, g := range c.Gateways {
		if got, err := call(g, shown); !errors.Is(err, errs.NodeNotConnected) {
			t.Errorf("gateway %d: %s, %v", i, got, err)
		}
		if got, err := call(g, epoch()); err != nil || got != cluster.Text("the other") {
			t.Errorf("gateway %d, by the new connection: %s, %v", i, got, err)
		}
	}
	for _, bad := range []*toolv1.Call{
		{UserId: "ana", ToolName: "pay", Epoch: shown}, {UserId: "ana", NodeId: "desk", ToolName: "pay", Epoch: -1},
	} {
		if _, err := c.Gateways[0].Tools.CallTool(t.Context(), &toolv1.CallToolRequest{Call: bad}); status.Code(err) != codes.InvalidArgument {
			t.Errorf("%v: %v", bad, err)
		}
	}
}
