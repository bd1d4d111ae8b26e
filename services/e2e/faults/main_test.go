package faults_test

import (
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

func TestMain(m *testing.M) { cluster.Main(m) }

// named connects an extension that answers with a name, and returns once its pod holds it.
func named(t *testing.T, g *cluster.Gateway, user, node, name string) *cluster.Client {
	t.Helper()
	n := g.Extension(t, user, node)
	n.Silent()
	n.Serve(func(cluster.ToolCall) string { return cluster.Text("I am " + name) })
	return n
}

func call(user, node string) *toolv1.Call {
	return &toolv1.Call{UserId: user, NodeId: node, ToolName: "click", Timeout: durationpb.New(20 * time.Second)}
}

// reaches reports whether the call is answered by this name through every gateway.
func reaches(t *testing.T, c *cluster.Cluster, call *toolv1.Call, name string) bool {
	t.Helper()
	for _, g := range c.Gateways {
		if got := cluster.Unary(t.Context(), g, call); got.JSON != cluster.Text("I am "+name) {
			return false
		}
	}
	return true
}

// lists reports whether every gateway lists exactly these nodes of a user, in this order.
func lists(t *testing.T, c *cluster.Cluster, user string, want ...string) bool {
	t.Helper()
	for _, g := range c.Gateways {
		if !listsAt(t, g, user, want...) {
			return false
		}
	}
	return true
}

// listsAt reports whether a gateway lists exactly these nodes of a user, in this order.
func listsAt(t *testing.T, g *cluster.Gateway, user string, want ...string) bool {
	t.Helper()
	r, err := g.Tools.ListNodes(t.Context(), &toolv1.ListNodesRequest{UserId: user})
	var got []string
	for _, n := range r.GetNodes() {
		got = append(got, n.GetInfo().GetNodeId())
	}
	return err == nil && strings.Join(got, " ") == strings.Join(want, " ")
}

// soon is "within seconds, without anyone's help"; on a machine with too much to do they are many.
func soon(t *testing.T, cond func() bool, what string) {
	t.Helper()
	testkit.Eventually(t, 20*time.Second, cond, "%s", what)
}
