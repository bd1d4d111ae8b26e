package connector_test

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/pkg/tool/toolclient"
	"github.com/hecaton-dev/hecaton/pkg/tool/tooldef"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool/connector"
)

func TestMain(m *testing.M) { testkit.Main(m) }

const (
	browser = nodev1.NodeType_NODE_TYPE_EXTENSION
	desktop = nodev1.NodeType_NODE_TYPE_DESKTOP
)

// gateway is a ToolService with nodes of one user, which binds sessions by the rules of docs/architecture.md#which-node.
type gateway struct {
	toolv1.UnimplementedToolServiceServer

	mu       sync.Mutex
	nodes    []*nodev1.Node
	bound    map[string]string
	calls    []*toolv1.Call
	answer   func(*toolv1.Call) *toolv1.CallsResponse
	sets     map[string][]byte // packed definitions, by digest
	resolved func()            // hears of every look, after it
}

// serve starts a gateway, and returns it with a source on it.
func serve(t *testing.T, nodes ...*nodev1.Node) (*gateway, *connector.Source) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := &gateway{nodes: nodes, bound: map[string]string{}, answer: ok, resolved: func() {}}
	server, served := grpc.NewServer(), make(chan error, 1)
	toolv1.RegisterToolServiceServer(server, g)
	go func() { served <- server.Serve(listener) }()
	client, err := toolclient.Dial(toolclient.Options{
		Targets:  []string{listener.Addr().String()},
		Dial:     []grpc.DialOption{grpc.WithTransportCredentials(insecure.NewCredentials())},
		Patience: toolclient.Patience{NotConnected: -1, Busy: -1, Unavailable: 100 * time.Millisecond},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		client.Close()
		server.Stop()
		if err := <-served; err != nil && !errors.Is(err, grpc.ErrServerStopped) {
			t.Error(err)
		}
	})
	testkit.Eventually(t, 10*time.Second, func() bool { return client.Ready(t.Context()) == nil }, "the gateway is connected")
	source, err := connector.New(connector.Options{Gateways: client})
	if err != nil {
		t.Fatal(err)
	}
	connector.Hurry(source, 150*time.Millisecond, 150*time.Millisecond, 0)
	return g, source
}

// node is a connected one.
func node(id string, kind nodev1.NodeType, tools ...string) *nodev1.Node {
	return &nodev1.Node{
		Info: &nodev1.NodeInfo{
			NodeId: id, NodeType: kind, NodeName: "the " + id, Os: "linux", AvailableTools: tools,
		},
		Status: nodev1.NodeStatus_NODE_STATUS_ONLINE, IsConnected: true, Epoch: 1,
	}
}

func (g *gateway) lock() func() {
	g.mu.Lock()
	return g.mu.Unlock
}

// ResolveNode implements ToolService.
func (g *gateway) ResolveNode(_ context.Context, req *toolv1.ResolveNodeRequest) (*toolv1.ResolveNodeResponse, error) {
	unlock := g.lock()
	resp, looked := g.resolve(req), g.resolved
	unlock()
	looked()
	return resp, nil
}

// ListNodes implements ToolService.
func (g *gateway) ListNodes(_ context.Context, req *toolv1.ListNodesRequest) (*toolv1.ListNodesResponse, error) {
	defer g.lock()()
	resp := &toolv1.ListNodesResponse{}
	for _, n := range g.nodes {
		if req.GetUserId() == "ana" && (n.GetIsConnected() || req.GetIncludeOffline()) {
			resp.Nodes = append(resp.Nodes, proto.CloneOf(n))
		}
	}
	return resp, nil
}

// GetTools implements ToolService.
func (g *gateway) GetTools(_ context.Context, req *toolv1.GetToolsRequest) (*toolv1.GetToolsResponse, error) {
	defer g.lock()()
	packed, ok := g.sets[req.GetDigest()]
	if !ok || req.GetUserId() != "ana" {
		return nil, status.Error(codes.NotFound, "there are none")
	}
	return &toolv1.GetToolsResponse{Tools: packed}, nil
}

// describes lets a node give definitions.
func (g *gateway) describes(n *nodev1.Node, defs ...tooldef.Definition) *nodev1.Node {
	defer g.lock()()
	set, digest := tooldef.Pack(defs)
	g.sets = map[string][]byte{digest: set.Packed()}
	n.Info.ToolsDigest = digest
	return n
}

// resolve is called with mu held.
func (g *gateway) resolve(req *toolv1.ResolveNodeRequest) *toolv1.ResolveNodeResponse {
	if req.GetUserId() != "ana" {
		return &toolv1.ResolveNodeResponse{}
	}
	var online []*nodev1.Node
	for _, n := range g.nodes {
		if id := n.GetInfo().GetNodeId(); g.bound[req.GetSessionId()] == id {
			return &toolv1.ResolveNodeResponse{Node: proto.CloneOf(n)}
		}
		if n.GetIsConnected() {
			online = append(online, proto.CloneOf(n))
		}
	}
	if i := slices.IndexFunc(online, func(n *nodev1.Node) bool { return n.GetInfo().GetNodeId() == req.GetPreferredNodeId() }); i >= 0 {
		online = online[i : i+1]
	}
	if len(online) > 1 {
		return &toolv1.ResolveNodeResponse{RequiresSelection: true, AvailableNodes: online}
	}
	if len(online) == 0 {
		return &toolv1.ResolveNodeResponse{}
	}
	if !req.GetDryRun() {
		g.bound[req.GetSessionId()] = online[0].GetInfo().GetNodeId()
	}
	return &toolv1.ResolveNodeResponse{Node: online[0]}
}

// Calls implements ToolService.
func (g *gateway) Calls(stream grpc.BidiStreamingServer[toolv1.CallsRequest, toolv1.CallsResponse]) error {
	for {
		req, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if req.GetStart() == nil {
			continue // a call that was given up
		}
		if resp := g.respond(req.GetStart()); resp != nil {
			resp.Id = req.GetId()
			if err := stream.Send(resp); err != nil {
				return err
			}
		}
	}
}

func (g *gateway) respond(call *toolv1.Call) *toolv1.CallsResponse {
	defer g.lock()()
	g.calls = append(g.calls, call)
	return g.answer(call)
}

func (g *gateway) seen() []*toolv1.Call {
	defer g.lock()()
	return slices.Clone(g.calls)
}

// become replaces the nodes.
func (g *gateway) become(nodes ...*nodev1.Node) {
	defer g.lock()()
	g.nodes = nodes
}

func (g *gateway) bind(session, id string) {
	defer g.lock()()
	g.bound[session] = id
}

func (g *gateway) answers(answer func(*toolv1.Call) *toolv1.CallsResponse) {
	defer g.lock()()
	g.answer = answer
}

func ok(call *toolv1.Call) *toolv1.CallsResponse {
	return &toolv1.CallsResponse{Event: &toolv1.CallsResponse_Answer{Answer: &toolv1.Answer{
		NodeId: call.GetNodeId(), Outcome: &toolv1.Answer_ResultJson{ResultJson: []byte(`{"content":[{"type":"text","text":"done"}]}`)},
	}}}
}

func fails(reason errs.Reason) func(*toolv1.Call) *toolv1.CallsResponse {
	return func(*toolv1.Call) *toolv1.CallsResponse {
		return &toolv1.CallsResponse{Event: &toolv1.CallsResponse_Failure{Failure: errs.New(reason, "scripted").Failure()}}
	}
}

// scope is that of one session.
func scope(session, preferred string) tool.Scope {
	return tool.Scope{User: "ana", Session: ids.SessionID(session), Preferred: preferred, Mode: tool.ModeAgent}
}
