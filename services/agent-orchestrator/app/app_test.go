package app_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/app"
)

// gateway is a ToolService that fails each call with the next of its reasons, and answers once they are used up.
type gateway struct {
	toolv1.UnimplementedToolServiceServer
	addr string

	mu      sync.Mutex
	reasons []errs.Reason
	calls   int
}

func serve(t *testing.T, reasons ...errs.Reason) *gateway {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := &gateway{addr: listener.Addr().String(), reasons: reasons}
	server, served := grpc.NewServer(), make(chan error, 1)
	toolv1.RegisterToolServiceServer(server, g)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		if err := <-served; err != nil && !errors.Is(err, grpc.ErrServerStopped) {
			t.Error(err)
		}
	})
	return g
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
		if err := stream.Send(g.respond(req)); err != nil {
			return err
		}
	}
}

func (g *gateway) respond(req *toolv1.CallsRequest) *toolv1.CallsResponse {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.calls++
	if len(g.reasons) > 0 {
		reason := g.reasons[0]
		g.reasons = g.reasons[1:]
		return &toolv1.CallsResponse{Id: req.GetId(), Event: &toolv1.CallsResponse_Failure{Failure: errs.New(reason, "scripted").Failure()}}
	}
	return &toolv1.CallsResponse{Id: req.GetId(), Event: &toolv1.CallsResponse_Answer{Answer: &toolv1.Answer{
		NodeId: "desk", Outcome: &toolv1.Answer_ResultJson{ResultJson: []byte(`{"content":[]}`)},
	}}}
}

func (g *gateway) seen() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.calls
}

// configuration is that of an orchestrator that is alone.
func configuration(t *testing.T) app.Config {
	t.Helper()
	dir := t.TempDir()
	cfg := app.Config{
		GRPCAddr: "127.0.0.1:0", AdminAddr: "127.0.0.1:0", LLM: app.LLMOffline,
		DatabaseURL: config.Secret("sqlite://" + filepath.Join(dir, "agent.db")),
		BlobURL:     config.Secret("file://" + filepath.Join(dir, "files")),
		SecretKeys:  config.Secret(base64.StdEncoding.EncodeToString(make([]byte, 32))),
	}
	if err := config.Defaults(&cfg); err != nil {
		t.Fatal(err)
	}
	cfg.NATSURL, cfg.DrainDelay = "", 0
	return cfg
}

// start runs an orchestrator that ends with the test.
func start(t *testing.T, change func(*app.Config), gateways ...string) *app.App {
	t.Helper()
	cfg := configuration(t)
	cfg.Gateways = gateways
	if change != nil {
		change(&cfg)
	}
	a, _ := run(t, cfg, nil)
	return a
}

// run runs an orchestrator until it is stopped, or the test ends.
func run(t *testing.T, cfg app.Config, log *slog.Logger) (a *app.App, stop func()) {
	t.Helper()
	a, err := app.New(cfg, app.Options{Version: "v1.2.3", Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	select {
	case <-a.Started():
	case err := <-ended:
		cancel()
		t.Fatalf("the orchestrator ended: %v", err)
	}
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
	t.Cleanup(stop)
	return a, stop
}

func dial(t *testing.T, addr string) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// admin asks the admin port.
func admin(t *testing.T, a *app.App, path string) (int, string) {
	t.Helper()
	resp, err := http.Get("http://" + a.AdminAddr() + path)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

func TestServes(t *testing.T) {
	t.Parallel()
	a := start(t, nil, serve(t).addr)
	conn := dial(t, a.GRPCAddr())
	got, err := agentv1.NewAgentServiceClient(conn).GetInfo(t.Context(), &agentv1.GetInfoRequest{})
	if err != nil || got.GetVersion() != "v1.2.3" {
		t.Errorf("%v, %v", got, err)
	}
	for _, service := range []string{"", "hecaton.agent.v1.AgentService"} {
		res, err := healthv1.NewHealthClient(conn).Check(t.Context(), &healthv1.HealthCheckRequest{Service: service})
		if err != nil || res.GetStatus() != healthv1.HealthCheckResponse_SERVING {
			t.Errorf("health of %q: %v, %v", service, res, err)
		}
	}
	services, err := reflectionv1.NewServerReflectionClient(conn).ServerReflectionInfo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := services.Send(&reflectionv1.ServerReflectionRequest{MessageRequest: &reflectionv1.ServerReflectionRequest_ListServices{}}); err != nil {
		t.Fatal(err)
	}
	if list, err := services.Recv(); err != nil || !strings.Contains(list.String(), "hecaton.agent.v1.AgentService") {
		t.Errorf("reflection: %v, %v", list, err)
	}
	if code, _ := admin(t, a, "/livez"); code != http.StatusOK {
		t.Errorf("livez: %d", code)
	}
	testkit.Eventually(t, 5*time.Second, func() bool { code, _ := admin(t, a, "/readyz"); return code == http.StatusOK }, "the pod is ready")
	if _, body := admin(t, a, "/metrics"); !strings.Contains(body, "go_goroutines") {
		t.Error("metrics are missing")
	}
}

// The pod is ready once one gateway answers, and says which one does not while none does.
func TestReadiness(t *testing.T) {
	t.Parallel()
	const away = "127.0.0.1:1" // a port that no other test is given
	alone := start(t, nil, away)
	code, body := admin(t, alone, "/readyz")
	var answer struct {
		Failing map[string]string `json:"failing"`
	}
	if err := json.Unmarshal([]byte(body), &answer); err != nil || code != http.StatusServiceUnavailable || answer.Failing["gateways"] == "" {
		t.Errorf("%d %s", code, body)
	}
	if code, _ := admin(t, alone, "/livez"); code != http.StatusOK {
		t.Errorf("livez: %d", code)
	}
	both := start(t, nil, away, serve(t).addr)
	testkit.Eventually(t, 5*time.Second, func() bool { code, _ := admin(t, both, "/readyz"); return code == http.StatusOK }, "the pod is ready")
}

func TestCallsTools(t *testing.T) {
	t.Parallel()
	call := &toolv1.Call{UserId: "ana", ToolName: "screenshot"}
	for name, tt := range map[string]struct {
		reasons []errs.Reason
		want    errs.Reason // none: answered
		tries   int
	}{
		"answered":        {nil, "", 1},
		"not delivered":   {[]errs.Reason{errs.NodeNotConnected, errs.NodeBusy}, "", 3},
		"outcome unknown": {[]errs.Reason{errs.NodeDisconnected}, errs.NodeDisconnected, 1},
		"not to be cured": {[]errs.Reason{errs.ToolNotOffered}, errs.ToolNotOffered, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := serve(t, tt.reasons...)
			answer, err := start(t, nil, g.addr).Tools().Call(t.Context(), call)
			switch {
			case tt.want == "" && (err != nil || string(answer.GetResultJson()) != `{"content":[]}`):
				t.Errorf("%v, %v", answer, err)
			case tt.want != "" && !errors.Is(err, tt.want):
				t.Errorf("got %v, want %s", err, tt.want)
			}
			if g.seen() != tt.tries {
				t.Errorf("%d tries, want %d", g.seen(), tt.tries)
			}
		})
	}
	t.Run("another gateway", func(t *testing.T) {
		t.Parallel()
		draining := serve(t, errs.Draining, errs.Draining, errs.Draining)
		good := serve(t)
		if _, err := start(t, nil, draining.addr, good.addr).Tools().Call(t.Context(), call); err != nil {
			t.Error(err)
		}
		if good.seen() != 1 {
			t.Errorf("%d calls", good.seen())
		}
	})
}

func TestUnauthenticatedServicesAreRefused(t *testing.T) {
	t.Parallel()
	identity := auth.ServiceAuth{Token: "a-token-for-services"}
	a := start(t, func(c *app.Config) { c.Services = identity }, serve(t).addr)
	ask := func(conn *grpc.ClientConn) codes.Code {
		_, err := agentv1.NewAgentServiceClient(conn).GetInfo(t.Context(), &agentv1.GetInfoRequest{})
		return status.Code(err)
	}
	if got := ask(dial(t, a.GRPCAddr())); got != codes.Unauthenticated {
		t.Errorf("an unknown caller gets %s", got)
	}
	options, err := identity.DialOptions()
	if err != nil {
		t.Fatal(err)
	}
	conn, err := grpc.NewClient(a.GRPCAddr(), options...)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if got := ask(conn); got != codes.OK {
		t.Errorf("a service gets %s", got)
	}
}

// Where the runs are in PostgreSQL and no other place is named, so are users' files.
func TestFilesAreInPostgreSQLByDefault(t *testing.T) {
	t.Parallel()
	url := testkit.Postgres(t)
	start(t, func(c *app.Config) { c.DatabaseURL, c.BlobURL = config.Secret(url), "" }, "127.0.0.1:9080")
	c, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(t.Context()) }()
	var there bool
	if err := c.QueryRow(t.Context(), `SELECT to_regclass('workspace_objects') IS NOT NULL`).Scan(&there); err != nil || !there {
		t.Errorf("the tables are there: %v, %v", there, err)
	}
}

func TestConfig(t *testing.T) {
	t.Parallel()
	var cfg app.Config
	environ := []string{
		"GATEWAYS=dns:///gateway:9080", "DATABASE_URL=postgres://db/agent", "BLOB_URL=s3://files", "SECRET_KEYS=one,two",
		"USER_ADDRESSES_ALLOW=10.0.0.0/8",
	}
	if err := config.Load(&cfg, config.Sources{Environ: environ}); err != nil {
		t.Fatal(err)
	}
	if len(cfg.Addresses.Allow) != 1 || cfg.NATSURL == "" || cfg.ApprovalTTL != 24*time.Hour || cfg.LeaseTTL != 5*time.Second {
		t.Errorf("%+v", cfg)
	}
	if cfg.GRPCAddr != ":9091" || cfg.AdminAddr != ":9191" || len(cfg.Gateways) != 1 || cfg.Gateways[0] != "dns:///gateway:9080" {
		t.Errorf("%+v", cfg)
	}
	if err := config.Load(&app.Config{}, config.Sources{}); err == nil || !strings.Contains(err.Error(), "DATABASE_URL") {
		t.Errorf("without a database: %v", err)
	}
	for name, change := range map[string]func(*app.Config){
		"stop-timeout":    func(c *app.Config) { c.StopTimeout = 0 },
		"approval-ttl":    func(c *app.Config) { c.ApprovalTTL = -1 },
		"lease-ttl":       func(c *app.Config) { c.LeaseTTL = time.Millisecond },
		"max-runs":        func(c *app.Config) { c.MaxRuns = 0 },
		"max-file":        func(c *app.Config) { c.MaxFile = 1 },
		"max-tool-result": func(c *app.Config) { c.MaxToolResult = 1 },
		"llm must":        func(c *app.Config) { c.LLM = "gpt" },
		"database-url":    func(c *app.Config) { c.DatabaseURL = "" },
		"blob-url":        func(c *app.Config) { c.BlobURL = "" }, // beside SQLite
		"key 2":           func(c *app.Config) { c.SecretKeys += ",c2hvcnQ=" },
		"allowed address": func(c *app.Config) { c.Addresses.Allow = []string{"https://x"} },
	} {
		cfg := configuration(t)
		change(&cfg)
		if _, err := app.New(cfg, app.Options{}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// What only shows when the parts start ends Run with an error.
	for name, change := range map[string]func(*app.Config){
		"no gateway":  func(c *app.Config) { c.Gateways = nil },
		"bad gateway": func(c *app.Config) { c.Gateways = []string{"gateway"} },
		"bad address": func(c *app.Config) { c.GRPCAddr = "256.0.0.1:0" },
		"bad token":   func(c *app.Config) { c.Services.Token = "short" },
		"bad store":   func(c *app.Config) { c.DatabaseURL = "mysql://x" },
		"bad files":   func(c *app.Config) { c.BlobURL = "ftp://x" },
		"bad cache":   func(c *app.Config) { c.RedisURL = "http://x" },
	} {
		cfg := configuration(t)
		change(&cfg)
		a, err := app.New(cfg, app.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Run(t.Context()); err == nil {
			t.Errorf("%s: it runs", name)
		}
	}
}
