package outcomes_test

import (
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// resolve asks one gateway for the node of a session; the answer is "node connected" or "node away", "choose a,b" or "none".
func resolve(t *testing.T, g *cluster.Gateway, req *toolv1.ResolveNodeRequest) string {
	t.Helper()
	resp, err := g.Tools.ResolveNode(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	var choices []string
	for _, n := range resp.GetAvailableNodes() {
		choices = append(choices, n.GetInfo().GetNodeId())
	}
	switch n := resp.GetNode(); {
	case n.GetIsConnected() && len(choices) == 0 && !resp.GetRequiresSelection():
		return n.GetInfo().GetNodeId() + " connected"
	case n != nil && len(choices) == 0 && !resp.GetRequiresSelection():
		return n.GetInfo().GetNodeId() + " away"
	case n == nil && resp.GetRequiresSelection() && len(choices) > 1:
		return "choose " + strings.Join(choices, ",")
	case n == nil && !resp.GetRequiresSelection() && len(choices) == 0:
		return "none"
	}
	return "contradicts itself: " + resp.String()
}

func wantNode(t *testing.T, gateways []*cluster.Gateway, req *toolv1.ResolveNodeRequest, want string) {
	t.Helper()
	dryRun := proto.CloneOf(req)
	dryRun.DryRun = true
	for _, req := range []*toolv1.ResolveNodeRequest{dryRun, req} {
		for i, g := range gateways {
			if got := resolve(t, g, req); got != want {
				t.Errorf("gateway %d says %q for %v, want %q", i, got, req, want)
			}
		}
	}
}

func TestResolveNode(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	s := func(id, preferred string) *toolv1.ResolveNodeRequest {
		return &toolv1.ResolveNodeRequest{UserId: "u", SessionId: id, PreferredNodeId: preferred}
	}
	wantNode(t, c.Gateways, s("s", ""), "none")
	first := named(t, c.Gateways[0], "u", "first")
	wantNode(t, c.Gateways, s("s", ""), "first connected") // and bound to it
	named(t, c.Gateways[1], "u", "second")
	wantNode(t, c.Gateways, s("s", ""), "first connected")
	// A dry run for a session does not bind it.
	if got := resolve(t, c.Gateways[0], &toolv1.ResolveNodeRequest{UserId: "u", SessionId: "dry", PreferredNodeId: "first", DryRun: true}); got != "first connected" {
		t.Errorf("dry run: %s", got)
	}
	wantNode(t, c.Gateways, s("dry", "second"), "second connected")
	wantNode(t, c.Gateways, s("new", ""), "choose first,second")
	wantNode(t, c.Gateways, s("new", "nowhere"), "choose first,second")
	wantNode(t, c.Gateways, s("preferring", "second"), "second connected")
	wantNode(t, c.Gateways, s("preferring", "first"), "second connected") // is bound already
	wantNode(t, c.Gateways, s("", ""), "first connected")                 // no session: the first connected
	goesTo(t, c, session("preferring"), "second")

	bound, err := c.Gateways[1].Tools.BindSession(t.Context(), &toolv1.BindSessionRequest{UserId: "u", SessionId: "new", NodeId: "second"})
	if err != nil || bound.GetNode().GetInfo().GetNodeId() != "second" || !bound.GetNode().GetIsConnected() {
		t.Errorf("%v, %v", bound, err)
	}
	wantNode(t, c.Gateways, s("new", ""), "second connected")

	first.Cut()
	gone(t, c, "first")
	wantNode(t, c.Gateways, s("s", ""), "first away") // what is known of it is told all the same
	resp, err := c.Gateways[1].Tools.ResolveNode(t.Context(), s("s", ""))
	if err != nil || resp.GetNode().GetInfo().GetNodeType() != nodev1.NodeType_NODE_TYPE_EXTENSION {
		t.Errorf("%v, %v", resp, err)
	}
}

// A session that is bound to a node of the other type counts as unbound for the type asked for, and stays bound.
func TestResolveNodeOfAType(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	named(t, c.Gateways[0], "u", "browser")
	desk := c.Gateways[1].Desktop(t, "u", "desk")
	desk.Silent()
	req := func(kind nodev1.NodeType) *toolv1.ResolveNodeRequest {
		return &toolv1.ResolveNodeRequest{UserId: "u", SessionId: "s", NodeType: kind}
	}
	wantNode(t, c.Gateways, req(extension), "browser connected")
	wantNode(t, c.Gateways, req(desktop), "desk connected")
	wantNode(t, c.Gateways, req(nodev1.NodeType_NODE_TYPE_UNSPECIFIED), "browser connected")
}

func TestResolveAndBindRefuse(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	named(t, c.Gateways[0], "u", "first")
	for name, tt := range map[string]struct {
		req  *toolv1.BindSessionRequest
		want codes.Code
	}{
		"never seen":     {&toolv1.BindSessionRequest{UserId: "u", SessionId: "s", NodeId: "never seen"}, codes.NotFound},
		"another user's": {&toolv1.BindSessionRequest{UserId: "stranger", SessionId: "s", NodeId: "first"}, codes.NotFound},
		"no user":        {&toolv1.BindSessionRequest{SessionId: "s", NodeId: "first"}, codes.InvalidArgument},
		"no session":     {&toolv1.BindSessionRequest{UserId: "u", NodeId: "first"}, codes.InvalidArgument},
		"no node":        {&toolv1.BindSessionRequest{UserId: "u", SessionId: "s"}, codes.InvalidArgument},
		"a bad id":       {&toolv1.BindSessionRequest{UserId: "u", SessionId: "s\n", NodeId: "first"}, codes.InvalidArgument},
	} {
		if _, err := c.Gateways[1].Tools.BindSession(t.Context(), tt.req); status.Code(err) != tt.want {
			t.Errorf("%s: %v, want %s", name, err, tt.want)
		}
	}
	for name, req := range map[string]*toolv1.ResolveNodeRequest{
		"no user":  {SessionId: "s"},
		"a bad id": {UserId: "u", SessionId: "s", PreferredNodeId: "\x01"},
	} {
		if _, err := c.Gateways[0].Tools.ResolveNode(t.Context(), req); status.Code(err) != codes.InvalidArgument {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := resolve(t, c.Gateways[0], &toolv1.ResolveNodeRequest{UserId: "stranger", SessionId: "s"}); got != "none" {
		t.Errorf("a stranger sees %s", got)
	}
}
