package agentapi_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	"github.com/hecaton-dev/hecaton/pkg/security/webguard"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/pkg/transport/target"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/agentapi"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/edge"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// script is what the orchestrators of a test do. What is nil answers UNIMPLEMENTED.
type script struct {
	invoke   func(pod *pod, req *agentv1.InvokeRequest, s grpc.ServerStreamingServer[agentv1.InvokeResponse]) error
	resume   func(pod *pod, req *agentv1.ResumeRequest, s grpc.ServerStreamingServer[agentv1.ResumeResponse]) error
	follow   func(pod *pod, req *agentv1.FollowRequest, s grpc.ServerStreamingServer[agentv1.FollowResponse]) error
	session  func(ctx context.Context, req *agentv1.GetSessionRequest) (*agentv1.GetSessionResponse, error)
	sessions func(ctx context.Context, req *agentv1.ListSessionsRequest) (*agentv1.ListSessionsResponse, error)
	cancel   func(ctx context.Context, req *agentv1.CancelRunRequest) (*agentv1.CancelRunResponse, error)
	settings func(ctx context.Context, req *agentv1.UpdateApprovalSettingsRequest) (*agentv1.UpdateApprovalSettingsResponse, error)
	exchange func(ctx context.Context, req *agentv1.ExchangeOAuthRequest) (*agentv1.ExchangeOAuthResponse, error)
	create   func(ctx context.Context, req *agentv1.CreateToolRequest) (*agentv1.CreateToolResponse, error)
	call     func(ctx context.Context, req *agentv1.CallToolRequest) (*agentv1.CallToolResponse, error)
	put      func(s grpc.ClientStreamingServer[agentv1.PutFileRequest, agentv1.PutFileResponse]) error
	get      func(req *agentv1.GetFileRequest, s grpc.ServerStreamingServer[agentv1.GetFileResponse]) error
	remove   func(ctx context.Context, req *agentv1.DeleteFileRequest) (*agentv1.DeleteFileResponse, error)
}

// pod is one orchestrator: a gRPC server on a real socket.
type pod struct {
	agentv1.UnimplementedAgentServiceServer
	agentv1.UnimplementedToolboxServiceServer
	agentv1.UnimplementedWorkspaceServiceServer
	script *script
	server *grpc.Server
	addr   string
	kill   func() // cuts every connection, as the death of a process does
}

func startPod(t *testing.T, s *script) *pod {
	t.Helper()
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &pod{script: s, server: grpc.NewServer(grpc.MaxRecvMsgSize(16 << 20)), addr: ln.Addr().String()}
	agentv1.RegisterAgentServiceServer(p.server, p)
	agentv1.RegisterToolboxServiceServer(p.server, p)
	agentv1.RegisterWorkspaceServiceServer(p.server, p)
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = p.server.Serve(ln)
	}()
	// Stop waits for handlers, and the handler that kills its own pod is one.
	var once sync.Once
	var stopping sync.WaitGroup
	p.kill = func() { once.Do(func() { stopping.Go(p.server.Stop) }) }
	t.Cleanup(func() {
		p.kill()
		stopping.Wait()
		<-served
	})
	return p
}

// die kills the pod that serves s and returns once s has noticed.
func (p *pod) die(s grpc.ServerStream) error {
	p.kill()
	<-s.Context().Done()
	return s.Context().Err()
}

func (p *pod) Invoke(req *agentv1.InvokeRequest, s grpc.ServerStreamingServer[agentv1.InvokeResponse]) error {
	if p.script.invoke == nil {
		return p.UnimplementedAgentServiceServer.Invoke(req, s)
	}
	return p.script.invoke(p, req, s)
}

func (p *pod) Resume(req *agentv1.ResumeRequest, s grpc.ServerStreamingServer[agentv1.ResumeResponse]) error {
	return p.script.resume(p, req, s)
}

func (p *pod) Follow(req *agentv1.FollowRequest, s grpc.ServerStreamingServer[agentv1.FollowResponse]) error {
	return p.script.follow(p, req, s)
}

func (p *pod) GetSession(ctx context.Context, req *agentv1.GetSessionRequest) (*agentv1.GetSessionResponse, error) {
	return p.script.session(ctx, req)
}

func (p *pod) ListSessions(ctx context.Context, req *agentv1.ListSessionsRequest) (*agentv1.ListSessionsResponse, error) {
	return p.script.sessions(ctx, req)
}

func (p *pod) CancelRun(ctx context.Context, req *agentv1.CancelRunRequest) (*agentv1.CancelRunResponse, error) {
	return p.script.cancel(ctx, req)
}

func (p *pod) UpdateApprovalSettings(ctx context.Context, req *agentv1.UpdateApprovalSettingsRequest) (*agentv1.UpdateApprovalSettingsResponse, error) {
	return p.script.settings(ctx, req)
}

func (p *pod) ExchangeOAuth(ctx context.Context, req *agentv1.ExchangeOAuthRequest) (*agentv1.ExchangeOAuthResponse, error) {
	return p.script.exchange(ctx, req)
}

func (p *pod) CreateTool(ctx context.Context, req *agentv1.CreateToolRequest) (*agentv1.CreateToolResponse, error) {
	return p.script.create(ctx, req)
}

func (p *pod) CallTool(ctx context.Context, req *agentv1.CallToolRequest) (*agentv1.CallToolResponse, error) {
	return p.script.call(ctx, req)
}

func (p *pod) PutFile(s grpc.ClientStreamingServer[agentv1.PutFileRequest, agentv1.PutFileResponse]) error {
	return p.script.put(s)
}

func (p *pod) GetFile(req *agentv1.GetFileRequest, s grpc.ServerStreamingServer[agentv1.GetFileResponse]) error {
	return p.script.get(req, s)
}

func (p *pod) DeleteFile(ctx context.Context, req *agentv1.DeleteFileRequest) (*agentv1.DeleteFileResponse, error) {
	return p.script.remove(ctx, req)
}

// gateway is the face under test on a real socket, and a client of it.
type gateway struct {
	url  string
	http *http.Client
}

// startGateway serves with the orchestrators of pods; in trusted mode unless change says otherwise.
// writeTimeout is how long clients may take for a piece of an answer.
const writeTimeout = 2 * time.Second

func startGateway(t *testing.T, change func(*auth.Config, *agentapi.Config), pods ...*pod) *gateway {
	t.Helper()
	addrs := make([]string, len(pods))
	for i, p := range pods {
		addrs[i] = p.addr
	}
	addr, opts := target.RoundRobin(strings.Join(addrs, ","), agentapi.Repeatable...)
	conn, err := grpc.NewClient(addr, append(opts, grpc.WithTransportCredentials(insecure.NewCredentials()))...)
	if err != nil {
		t.Fatal(err)
	}
	who, cfg := auth.Config{Mode: auth.Trusted}, agentapi.Config{Orchestrators: conn, MaxBody: 1 << 20}
	if change != nil {
		change(&who, &cfg)
	}
	if cfg.Auth, err = auth.New(who, nil); err != nil {
		t.Fatal(err)
	}
	api, err := agentapi.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	api.Routes(mux)
	pages, err := webguard.Config{Origins: []string{"https://ui.example.org"}}.Guard("", who.Mode == auth.Trusted, nil)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(edge.Pace{Grace: 10 * time.Second, Rate: 1 << 10, Write: writeTimeout}.Handler(edge.Pages(pages)(mux)))
	g := &gateway{url: server.URL, http: &http.Client{Transport: &http.Transport{}}}
	t.Cleanup(func() {
		g.http.CloseIdleConnections()
		server.Close()
		_ = conn.Close()
	})
	return g
}

// answer is a response whose body ends with the test.
type answer struct{ *http.Response }

// do sends a request as user u, unless headers (pairs) say otherwise.
func (g *gateway) do(t *testing.T, method, path, body string, headers ...string) answer {
	t.Helper()
	return g.doIn(t.Context(), t, method, path, body, headers...)
}

func (g *gateway) doIn(ctx context.Context, t *testing.T, method, path, body string, headers ...string) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, method, g.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-User-Id", "u")
	for i := 0; i < len(headers); i += 2 {
		if req.Header.Del(headers[i]); headers[i+1] != "" {
			req.Header.Set(headers[i], headers[i+1])
		}
	}
	resp, err := g.http.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	return answer{resp}
}

const jwtSecret = "0123456789abcdef0123456789abcdef"

// withJWT makes a gateway that asks for tokens.
func withJWT(who *auth.Config, _ *agentapi.Config) {
	*who = auth.Config{Mode: auth.JWT, Secret: jwtSecret}
}

// bearer returns the header of a user's token.
func bearer(t *testing.T, user ids.UserID) string {
	t.Helper()
	token, err := auth.Mint(config.Secret(jwtSecret), auth.Claims{User: user, Expires: time.Now().Add(time.Minute)})
	if err != nil {
		t.Fatal(err)
	}
	return "Bearer " + token
}
