package connectionmanager_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

func TestMain(m *testing.M) { testkit.Main(m) }

const (
	extension = nodev1.NodeType_NODE_TYPE_EXTENSION
	desktop   = nodev1.NodeType_NODE_TYPE_DESKTOP
)

// manager is a cluster and one user in it. Nodes connect to the first gateway and everything is asked of the second.
type manager struct {
	*testing.T
	user      string
	here, far *cluster.Gateway
}

func (m manager) nodes(kind nodev1.NodeType) []string {
	m.Helper()
	resp, err := m.far.Tools.ListNodes(m.Context(), &toolv1.ListNodesRequest{UserId: m.user, NodeType: kind})
	if err != nil {
		m.Fatal(err)
	}
	var names []string
	for _, n := range resp.GetNodes() {
		names = append(names, n.GetInfo().GetNodeId())
	}
	return names
}

func (m manager) wantNodes(kind nodev1.NodeType, want ...string) {
	m.Helper()
	testkit.Eventually(m, 5*time.Second, func() bool { return slices.Equal(m.nodes(kind), want) }, "%v: nodes are %v", kind, want)
}

func (m manager) call(call *toolv1.Call) string {
	m.Helper()
	call.UserId = m.user
	resp, err := m.far.Tools.CallTool(m.Context(), &toolv1.CallToolRequest{Call: call})
	if err != nil {
		m.Fatal(err)
	}
	return string(resp.GetAnswer().GetResultJson())
}

func echo(name string) func(cluster.ToolCall) string {
	return func(c cluster.ToolCall) string {
		return cluster.Text(fmt.Sprintf("%s ran %s(%s) in %q", name, c.Params.Name, c.Params.Arguments, c.Params.SessionID))
	}
}

func TestConnectionManager(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	run := func(method string, f func(m manager)) {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			f(manager{T: t, user: "user-of-" + method, here: c.Gateways[0], far: c.Gateways[1]})
		})
	}

	run("connect_extension", func(m manager) {
		e := m.here.Extension(m, m.user, "e1")
		m.wantNodes(extension, "e1")
		e.Register(`"node_name":"Chrome","available_tools":["click"]`)
		resp, _ := m.far.Tools.ListNodes(m.Context(), &toolv1.ListNodesRequest{UserId: m.user})
		if info := resp.GetNodes()[0].GetInfo(); info.GetNodeName() != "Chrome" || info.GetAvailableTools()[0] != "click" {
			m.Errorf("%v", info)
		}
	})
	run("connect_desktop", func(m manager) {
		m.here.Desktop(m, m.user, "d1").Register(`"node_name":"Desk"`)
		m.wantNodes(desktop, "d1")
	})
	run("connect_web", func(m manager) {
		w := m.here.Web(m, m.user)
		_, err := m.far.Tools.SendMessage(m.Context(), toWeb(m.user, `{"type":"hello"}`))
		if err != nil {
			m.Fatal(err)
		}
		w.Expect(`{"type":"hello"}`)
	})
	run("disconnect_extension", func(m manager) {
		e := m.here.Extension(m, m.user, "e1")
		m.wantNodes(extension, "e1")
		e.Cut()
		m.wantNodes(extension)
	})
	run("disconnect_desktop", func(m manager) {
		d := m.here.Desktop(m, m.user, "d1")
		m.wantNodes(desktop, "d1")
		d.Cut()
		m.wantNodes(desktop)
	})
	run("disconnect_web", func(m manager) {
		one, two := m.here.Web(m, m.user), m.here.Web(m, m.user)
		one.Cut()
		_, err := m.far.Tools.SendMessage(m.Context(), toWeb(m.user, `{"type":"hello"}`))
		if err != nil {
			m.Fatal(err)
		}
		two.Expect(`{"type":"hello"}`)
	})
	run("is_extension_connected", func(m manager) {
		if got := m.nodes(extension); len(got) != 0 {
			m.Fatal(got)
		}
		m.here.Extension(m, m.user, "e1")
		m.here.Desktop(m, m.user, "d1")
		m.wantNodes(extension, "e1")
	})
	run("is_desktop_connected", func(m manager) {
		m.here.Extension(m, m.user, "e1")
		m.here.Desktop(m, m.user, "d1")
		m.wantNodes(desktop, "d1")
	})
	run("get_extension_node_ids", func(m manager) {
		m.here.Extension(m, m.user, "e1")
		m.wantNodes(extension, "e1")
		m.far.Extension(m, m.user, "e2")
		m.wantNodes(extension, "e1", "e2")
	})
	run("get_desktop_node_ids", func(m manager) {
		m.here.Desktop(m, m.user, "d1")
		m.wantNodes(desktop, "d1")
		m.far.Desktop(m, m.user, "d2")
		m.wantNodes(desktop, "d1", "d2")
	})
	run("get_websocket", func(m manager) { // a socket is a pod's own; what others see is who holds it
		m.here.Extension(m, m.user, "e1")
		m.wantNodes(extension, "e1")
		resp, err := m.far.Tools.ListNodes(m.Context(), &toolv1.ListNodesRequest{UserId: m.user})
		if err != nil || !resp.GetNodes()[0].GetIsConnected() || resp.GetNodes()[0].GetGatewayId() == "" {
			m.Errorf("%v %v", resp, err)
		}
	})
	run("send_to_extension", func(m manager) { m.sendTo(extension, m.here.Extension) })
	run("send_to_desktop", func(m manager) { m.sendTo(desktop, m.here.Desktop) })
	run("send_to_web", func(m manager) {
		clients := []*cluster.Client{m.here.Web(m, m.user), m.here.Web(m, m.user), m.far.Web(m, m.user)}
		if _, err := m.far.Tools.SendMessage(m.Context(), toWeb(m.user, `{"type":"hello"}`)); err != nil {
			m.Fatal(err)
		}
		for _, w := range clients {
			w.Expect(`{"type":"hello"}`)
			w.Silent()
		}
	})
	run("call_extension_tool", func(m manager) { m.callOf(extension, m.here.Extension) })
	run("call_desktop_tool", func(m manager) { m.callOf(desktop, m.here.Desktop) })
	run("call_tool", func(m manager) {
		m.here.Extension(m, m.user, "e1").Serve(echo("e1"))
		m.here.Desktop(m, m.user, "d1").Serve(echo("d1"))
		for node, kind := range map[string]nodev1.NodeType{"e1": extension, "d1": desktop} {
			m.wantNodes(kind, node)
			got := m.call(&toolv1.Call{NodeId: node, NodeType: kind, ToolName: "t", ArgumentsJson: []byte(`{"a":1}`), SessionId: "s"})
			if want := cluster.Text(node + ` ran t({"a":1}) in "s"`); got != want {
				m.Errorf("got %s, want %s", got, want)
			}
		}
	})
	run("execute_workflow", func(m manager) {
		e := m.here.Extension(m, m.user, "e1")
		m.wantNodes(extension, "e1")
		done := make(chan *toolv1.ExecuteWorkflowResponse, 1)
		go func() {
			resp, _ := m.far.Tools.ExecuteWorkflow(m.Context(), &toolv1.ExecuteWorkflowRequest{
				UserId: m.user, WorkflowId: "wf", VariablesJson: []byte(`{"q":1}`), Timeout: durationpb.New(30 * time.Second),
			})
			done <- resp
		}()
		e.Expect(`{"type":"execute_workflow","workflow_id":"wf","variables":{"q":1}}`)
		e.Send(`{"type":"task_complete","task_id":"t","result":{"data":1},"output":"ok"}`)
		if resp := <-done; !resp.GetSuccess() || string(resp.GetCompletionJson()) != `{"type":"task_complete","task_id":"t","result":{"data":1},"output":"ok"}` {
			m.Errorf("%v", resp)
		}
	})
	run("resolve_request", func(m manager) { // an answer finds its call by id, whatever the order
		e := m.here.Extension(m, m.user, "e1")
		m.wantNodes(extension, "e1")
		answers := make(chan string, 2)
		for _, tool := range []string{"first", "second"} {
			go func() {
				resp, err := m.far.Tools.CallTool(m.Context(), &toolv1.CallToolRequest{Call: &toolv1.Call{UserId: m.user, NodeId: "e1", ToolName: tool}})
				answers <- fmt.Sprintf("%s: %s %v", tool, resp.GetAnswer().GetResultJson(), err)
			}()
		}
		one, two := e.Call(), e.Call()
		e.Answer(two, `"`+two.Params.Name+`"`)
		e.Answer(one, `"`+one.Params.Name+`"`)
		for range 2 {
			if got := <-answers; got != `first: "first" <nil>` && got != `second: "second" <nil>` {
				m.Error(got)
			}
		}
	})
}

// TestStats has a cluster of its own: get_stats counts everybody's connections.
func TestStats(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	t.Run("get_stats", func(t *testing.T) {
		a, b := c.Gateways[0], c.Gateways[1]
		e := a.Extension(t, "u1", "e1")
		a.Extension(t, "u1", "e2")
		b.Extension(t, "u2", "e1")
		b.Desktop(t, "u2", "d1")
		a.Web(t, "u1")
		b.Web(t, "u1")
		for range 2 {
			go func() {
				_, _ = b.Tools.CallTool(t.Context(), &toolv1.CallToolRequest{Call: &toolv1.Call{UserId: "u1", NodeId: "e1", ToolName: "t"}})
			}()
		}
		calls := []cluster.ToolCall{e.Call(), e.Call()}
		want := map[string]float64{"extension_connections": 3, "desktop_connections": 1, "web_connections": 2, "pending_requests": 2}
		for _, g := range c.Gateways {
			testkit.Eventually(t, 8*time.Second, func() bool {
				var got map[string]float64
				return json.Unmarshal([]byte(g.Get(t, "/api/node/stats", "").Raw), &got) == nil && equal(got, want)
			}, "stats are %v", want)
		}
		for _, call := range calls {
			e.Answer(call, `{}`)
		}
	})
}

func equal(a, b map[string]float64) bool {
	if len(a) != len(b) {
		return false
	}
	for k, v := range a {
		if b[k] != v {
			return false
		}
	}
	return true
}

func toWeb(user, frame string) *toolv1.SendMessageRequest {
	return &toolv1.SendMessageRequest{UserId: user, MessageJson: []byte(frame), Target: &toolv1.SendMessageRequest_Web{Web: &toolv1.WebTarget{}}}
}

type dial func(t testing.TB, user, node string) *cluster.Client

// sendTo sends to a named node and to the first connected one.
func (m manager) sendTo(kind nodev1.NodeType, dial dial) {
	one := dial(m, m.user, "n1")
	m.wantNodes(kind, "n1")
	two := dial(m, m.user, "n2")
	m.wantNodes(kind, "n1", "n2")
	send := func(node, frame string) {
		m.Helper()
		resp, err := m.far.Tools.SendMessage(m.Context(), &toolv1.SendMessageRequest{
			UserId: m.user, MessageJson: []byte(frame),
			Target: &toolv1.SendMessageRequest_Node{Node: &toolv1.NodeTarget{NodeId: node, NodeType: kind}},
		})
		if err != nil {
			m.Fatal(err, resp)
		}
	}
	send("n2", `{"to":"n2"}`)
	send("", `{"to":"first"}`)
	two.Expect(`{"to":"n2"}`)
	one.Expect(`{"to":"first"}`)
}

// callOf calls a named node and the first connected one of a type.
func (m manager) callOf(kind nodev1.NodeType, dial dial) {
	for _, node := range []string{"n1", "n2"} {
		dial(m, m.user, node).Serve(echo(node))
		testkit.Eventually(m, 5*time.Second, func() bool { return slices.Contains(m.nodes(kind), node) }, "%s is there", node)
	}
	for node, want := range map[string]string{"n2": "n2", "": "n1"} {
		got := m.call(&toolv1.Call{NodeId: node, NodeType: kind, ToolName: "t", Timeout: durationpb.New(10 * time.Second)})
		if want = cluster.Text(want + ` ran t({}) in ""`); got != want {
			m.Errorf("got %s, want %s", got, want)
		}
	}
}
