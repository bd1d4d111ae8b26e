package toolbox_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	"github.com/hecaton-dev/hecaton/pkg/security/seal"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/admission"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/grpcapi"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/netguard"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool/mcp"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool/oauth"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/toolbox"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// box is a toolbox behind gRPC, on a real store.
type box struct {
	agentv1.ToolboxServiceClient
	store *store.Store
	saved *toolbox.Saved
	nodes *nodes
}

// options of a box; all have a default.
type options struct {
	public   bool // refuse private addresses
	stdio    bool // let users start servers
	provider string
	keys     []config.Secret
	store    *store.Store
}

func start(t *testing.T, o options) *box {
	t.Helper()
	b := &box{store: o.store, nodes: &nodes{}}
	if b.store == nil {
		b.store = database(t)
	}
	if o.keys == nil {
		o.keys = []config.Secret{seal.NewKey()}
	}
	sealer, err := seal.New(o.keys...)
	if err != nil {
		t.Fatal(err)
	}
	guard, err := netguard.New(netguard.Config{Private: !o.public})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(guard.Close)
	if b.saved, err = toolbox.NewSaved(toolbox.SavedOptions{Store: b.store, Box: sealer}); err != nil {
		t.Fatal(err)
	}
	providers := &oauth.Config{}
	if err := config.Defaults(providers); err != nil {
		t.Fatal(err)
	}
	if o.provider != "" {
		providers.GitHub.OAuthURL, providers.GitHub.APIURL = o.provider, o.provider
		providers.RedirectURIs = []string{page}
		providers.GitHub.Credentials = oauth.Credentials{ClientID: "id", ClientSecret: "secret"}
	}
	grants, err := oauth.New(oauth.Options{Config: *providers, Saved: b.saved})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(grants.Close)
	servers, err := mcp.New(mcp.Options{Guard: guard, Saved: b.saved})
	if err != nil {
		t.Fatal(err)
	}
	admitter, err := admission.New(admission.Options{Store: b.store})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(servers.Close)
	changes, err := toolbox.NewChanges(nil, servers, nil)
	if err != nil {
		t.Fatal(err)
	}
	server, err := toolbox.New(toolbox.Options{
		Store: b.store, Box: sealer, Guard: guard, Gateways: b.nodes, OAuth: grants, Changes: changes, Stdio: o.stdio,
		MCP: servers, Admitter: admitter,
	})
	if err != nil {
		t.Fatal(err)
	}
	b.ToolboxServiceClient = agentv1.NewToolboxServiceClient(dial(t, server))
	return b
}

func database(t *testing.T) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{URL: config.Secret("sqlite://" + filepath.Join(t.TempDir(), "test.db"))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// dial serves s as a pod does.
func dial(t *testing.T, s agentv1.ToolboxServiceServer) *grpc.ClientConn {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(grpcapi.ServerOptions(obs.OrDiscard(nil))...)
	agentv1.RegisterToolboxServiceServer(server, s)
	var wg sync.WaitGroup
	wg.Go(func() { _ = server.Serve(listener) })
	conn, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = conn.Close()
		server.Stop()
		wg.Wait()
	})
	return conn
}

func as(t *testing.T, user ids.UserID) context.Context { return auth.OnBehalf(t.Context(), user) }

// ours is an error as the gateway reads it.
func ours(err error) error { return errs.FromGRPC(err) }

// nodes are ana's nodes and what they answer.
type nodes struct {
	mu     sync.Mutex
	list   []*nodev1.Node
	answer *toolv1.Answer
	err    error
	away   error // of ListNodes
	calls  []*toolv1.Call
}

func (n *nodes) set(answer *toolv1.Answer, err error, offers ...[]string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.answer, n.err, n.list = answer, err, nil
	for _, tools := range offers {
		n.list = append(n.list, &nodev1.Node{Info: &nodev1.NodeInfo{NodeId: "n", AvailableTools: tools}})
	}
}

func (n *nodes) ListNodes(_ context.Context, req *toolv1.ListNodesRequest) (*toolv1.ListNodesResponse, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.away != nil || req.GetUserId() != "ana" {
		return nil, n.away
	}
	return &toolv1.ListNodesResponse{Nodes: n.list}, nil
}

func (n *nodes) Call(_ context.Context, call *toolv1.Call) (*toolv1.Answer, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.calls = append(n.calls, call)
	return n.answer, n.err
}

// mcpServer is a real one with the tool "echo".
func mcpServer(t *testing.T) *httptest.Server {
	t.Helper()
	server := sdk.NewServer(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	sdk.AddTool(server, &sdk.Tool{Name: "echo", Description: "Says it again"},
		func(_ context.Context, _ *sdk.CallToolRequest, in struct {
			Text string `json:"text"`
		},
		) (*sdk.CallToolResult, any, error) {
			return &sdk.CallToolResult{IsError: in.Text == "bad", Content: []sdk.Content{
				&sdk.TextContent{Text: in.Text}, &sdk.ImageContent{MIMEType: "image/png", Data: []byte("PNG")},
				&sdk.AudioContent{MIMEType: "audio/wav", Data: []byte("WAV")},
			}}, nil, nil
		})
	s := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil))
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
		for session := range server.Sessions() {
			_ = session.Close()
		}
	})
	return s
}
