package dialects_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
	gateway "github.com/hecaton-dev/hecaton/services/gateway/app"
	"github.com/hecaton-dev/hecaton/services/gateway/echotest"
)

func TestMain(m *testing.M) { cluster.Main(m) }

func start(t *testing.T, change func(*gateway.Config)) *cluster.Cluster {
	t.Helper()
	return cluster.Start(t, cluster.Options{NewGateway: echotest.Gateway, Gateway: func(_ int, cfg *gateway.Config) {
		if change != nil {
			change(cfg)
		}
	}})
}

// client is one of the dialect.
type client struct {
	*cluster.Client
	t *testing.T
}

func dial(t *testing.T, g *cluster.Gateway) client {
	t.Helper()
	return client{g.Open(t, echotest.Path), t}
}

// node connects a node and returns once it is welcome.
func node(t *testing.T, g *cluster.Gateway, user, id string) client {
	t.Helper()
	c := dial(t, g)
	c.say('H', user, id)
	c.hear('W', "")
	return c
}

func (c client) say(letter byte, fields ...string) {
	c.t.Helper()
	if err := c.TrySend(websocket.MessageBinary, echotest.Frame(letter, fields...)); err != nil {
		c.t.Errorf("send %c: %v", letter, err)
	}
}

// hear fails unless the next frame begins so, and returns its fields.
func (c client) hear(letter byte, first string) []string {
	c.t.Helper()
	got, fields := echotest.Fields([]byte(c.Next()), 3)
	if got != letter || first != "" && fields[0] != first {
		c.t.Fatalf("heard %c %q, want %c %q", got, fields, letter, first)
	}
	return fields
}

// serve answers n calls with their arguments.
func (c client) serve(n int) {
	c.t.Helper()
	for range n {
		call := c.hear('C', "")
		if call[1] != "say" {
			c.t.Errorf("called %q", call)
		}
		c.say('A', call[0], call[2])
	}
}

func call(user, node string) *toolv1.Call {
	return &toolv1.Call{
		UserId: user, NodeId: node, NodeType: nodev1.NodeType_NODE_TYPE_DESKTOP, ToolName: "say",
		ArgumentsJson: []byte(`{"word":"hi"}`), Timeout: durationpb.New(20 * time.Second),
	}
}

// begin makes a call and returns where its end will come.
func begin(t *testing.T, way cluster.Way, g *cluster.Gateway, c *toolv1.Call) <-chan cluster.Ended {
	end := make(chan cluster.Ended, 1)
	go func() { end <- way.Call(t.Context(), g, c) }()
	return end
}

func echoed(t *testing.T, got cluster.Ended) {
	t.Helper()
	if got.Err != nil || got.Reason != "" || !strings.Contains(got.JSON, `{\"word\":\"hi\"}`) {
		t.Errorf("the call ended with %v", got)
	}
}

// Calls reach the node from every pod, in every way; news of them comes back.
func TestRouting(t *testing.T) {
	t.Parallel()
	c := start(t, nil)
	n := node(t, c.Gateways[1], "ana", "pc")
	for _, way := range cluster.Ways {
		for _, g := range c.Gateways {
			end := begin(t, way, g, call("ana", "pc"))
			n.serve(1)
			echoed(t, <-end)
		}
	}
	stream, err := c.Gateways[0].Tools.CallToolStream(t.Context(), &toolv1.CallToolStreamRequest{Call: call("ana", "pc")})
	if err != nil {
		t.Fatal(err)
	}
	id := n.hear('C', "")[0]
	n.say('N', id, "half")
	if m, err := stream.Recv(); err != nil || m.GetProgress().GetMessage() != "half" {
		t.Errorf("progress is %v, %v", m, err)
	}
	n.say('A', id, "done")
	if m, err := stream.Recv(); err != nil || !strings.Contains(string(m.GetAnswer().GetResultJson()), "done") {
		t.Errorf("the answer is %v, %v", m, err)
	}
	if got := c.Gateways[1].Metric(t, `hecaton_gateway_connections{client="echo"}`); got != 1 {
		t.Errorf("%v connections are counted", got)
	}
}

// A call that its caller gives up is taken back in the dialect's own words. What the dialect has no words for is refused.
func TestCancelAndRefusal(t *testing.T) {
	t.Parallel()
	c := start(t, nil)
	n := node(t, c.Gateways[1], "ana", "pc")
	late := call("ana", "pc")
	late.Timeout = durationpb.New(200 * time.Millisecond)
	end := begin(t, cluster.Ways[0], c.Gateways[0], late)
	id := n.hear('C', "")[0]
	n.hear('X', id)
	if got := <-end; got.Reason != "TOOL_TIMEOUT" {
		t.Errorf("the call ended with %v", got)
	}
	_, err := c.Gateways[0].Tools.SendMessage(t.Context(), &toolv1.SendMessageRequest{
		UserId: "ana", MessageJson: []byte(`{}`),
		Target: &toolv1.SendMessageRequest_Node{Node: &toolv1.NodeTarget{NodeId: "pc"}},
	})
	if err == nil || !strings.Contains(err.Error(), "tool calls only") {
		t.Errorf("a message is answered with %v", err)
	}
}

// The same node connects to another pod: the later connection is the node.
func TestFencing(t *testing.T) {
	t.Parallel()
	c := start(t, nil)
	old := node(t, c.Gateways[0], "ana", "pc")
	lost := begin(t, cluster.Ways[0], c.Gateways[1], call("ana", "pc"))
	old.hear('C', "")
	later := node(t, c.Gateways[1], "ana", "pc")
	if code := old.Ended(); code != 4409 {
		t.Errorf("the earlier connection was closed with %d", code)
	}
	if got := <-lost; got.Reason != "NODE_DISCONNECTED" {
		t.Errorf("its call ended with %v", got)
	}
	end := begin(t, cluster.Ways[0], c.Gateways[0], call("ana", "pc"))
	later.serve(1)
	echoed(t, <-end)
}

// A pod that drains lets the call in progress finish, closes the connection and refuses new ones.
func TestDrain(t *testing.T) {
	t.Parallel()
	c := start(t, func(cfg *gateway.Config) { cfg.DrainGrace = 20 * time.Second })
	n := node(t, c.Gateways[0], "ana", "pc")
	end := begin(t, cluster.Ways[0], c.Gateways[1], call("ana", "pc"))
	id := n.hear('C', "")[0]
	c.Gateways[0].Drain(t, "")
	testkit.Eventually(t, 10*time.Second, func() bool {
		_, err := c.Gateways[0].TryOpen(t, echotest.Path)
		return err != nil && strings.Contains(err.Error(), http.StatusText(http.StatusServiceUnavailable))
	}, "new connections are refused")
	n.say('A', id, `{"word":"hi"}`)
	echoed(t, <-end)
	if code := n.Ended(); code != 1012 {
		t.Errorf("the connection was closed with %d", code)
	}
	again := node(t, c.Gateways[1], "ana", "pc")
	end = begin(t, cluster.Ways[0], c.Gateways[0], call("ana", "pc"))
	again.serve(1)
	echoed(t, <-end)
}

// A message to a room reaches all who joined it, of whichever user and on whichever pod.
func TestRooms(t *testing.T) {
	t.Parallel()
	c := start(t, nil)
	ana, bob, eve := node(t, c.Gateways[0], "ana", "pc"), node(t, c.Gateways[1], "bob", "pc"), node(t, c.Gateways[1], "eve", "pc")
	for _, n := range []client{ana, bob} {
		n.say('J', "blue room")
		n.hear('J', "blue room")
	}
	eve.say('J', "red room")
	eve.hear('J', "red room")
	ana.say('S', "blue room", "hello")
	ana.hear('S', "hello")
	bob.hear('S', "hello")
	bob.say('S', "red room", "hi")
	eve.hear('S', "hi") // and nothing before
	bob.say('S', "blue room", "bye")
	ana.hear('S', "bye") // and nothing before
}

// Who does not say who it is, or shows no token of that user, may not stay.
func TestTheFirstFrameIsChecked(t *testing.T) {
	t.Parallel()
	const secret = "0123456789abcdef0123456789abcdef"
	c := start(t, func(cfg *gateway.Config) { cfg.Auth = auth.Config{Mode: auth.JWT, Secret: secret} })
	token, err := auth.Mint(config.Secret(secret), auth.Claims{User: "ana", Expires: time.Now().Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	g := c.Gateways[0]
	for name, tt := range map[string]struct {
		target string
		first  []byte
		code   int
	}{
		"no identity":          {echotest.Path + "?token=" + token, echotest.Frame('C', "x"), 4001},
		"no token":             {echotest.Path, echotest.Frame('H', "ana", "pc"), 4003},
		"another user's token": {echotest.Path + "?token=" + token, echotest.Frame('H', "bob", "pc"), 4003},
	} {
		n := g.Open(t, tt.target)
		if err := n.TrySend(websocket.MessageBinary, tt.first); err != nil {
			t.Fatal(err)
		}
		if code := n.Ended(); code != tt.code {
			t.Errorf("%s: closed with %d, want %d", name, code, tt.code)
		}
	}
	n := client{g.Open(t, echotest.Path+"?token="+token), t}
	n.say('H', "ana", "pc")
	n.hear('W', "")
}
