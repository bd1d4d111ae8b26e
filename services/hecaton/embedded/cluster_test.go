package embedded_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/hecaton-dev/hecaton/pkg/node"
	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
	gateway "github.com/hecaton-dev/hecaton/services/gateway/app"
	"github.com/hecaton-dev/hecaton/services/hecaton/embedded"
)

func TestMain(m *testing.M) {
	// A client of a Redis that is away notices up to a second later that it was closed.
	testkit.Main(m, goleak.IgnoreAnyFunction("github.com/redis/go-redis/v9/internal/pool.(*ConnPool).tryDial"))
}

func start(t *testing.T, o embedded.Options) *embedded.Cluster {
	t.Helper()
	c, err := embedded.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// connect runs a node with one tool, and returns once it can be called.
func connect(t *testing.T, g embedded.Gateway, tool string, h node.Handler) {
	t.Helper()
	n, err := node.New(node.Options{Server: "ws://" + g.HTTP, UserID: "ana", NodeID: "desk"})
	if err != nil {
		t.Fatal(err)
	}
	n.Handle(tool, h)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- n.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	select {
	case <-n.Connected():
	case <-time.After(10 * time.Second):
		t.Fatal("the node does not connect")
	}
}

func callTool(ctx context.Context, t *testing.T, g embedded.Gateway, tool string) (*toolv1.Answer, error) {
	t.Helper()
	conn, err := grpc.NewClient(g.GRPC, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	resp, err := toolv1.NewToolServiceClient(conn).CallTool(ctx, &toolv1.CallToolRequest{
		Call: &toolv1.Call{UserId: "ana", NodeId: "desk", ToolName: tool},
	})
	return resp.GetAnswer(), err
}

func TestCallCrossesGateways(t *testing.T) {
	t.Parallel()
	c := start(t, embedded.Options{Gateways: 2})
	connect(t, c.Gateways[0], "hello", func(context.Context, node.Call) (node.Result, error) { return node.Text("hello"), nil })
	for i, g := range c.Gateways {
		answer, err := callTool(t.Context(), t, g, "hello")
		if err != nil || !strings.Contains(string(answer.GetResultJson()), "hello") {
			t.Errorf("through gateway %d: %v, %v", i, answer, err)
		}
	}
	for _, admin := range []string{c.Gateways[0].Admin, c.Gateways[1].Admin, c.Registry.Admin, c.Orchestrators[0].Admin} {
		resp, err := http.Get("http://" + admin + "/readyz")
		if err != nil {
			t.Fatal(err)
		}
		if resp.Body.Close(); resp.StatusCode != http.StatusOK {
			t.Errorf("%s: %s", admin, resp.Status)
		}
	}
	if c.Gateways[0].ID == c.Gateways[1].ID {
		t.Error("the gateways have one id")
	}
}

// Stop waits for the call in flight.
func TestStopDrains(t *testing.T) {
	t.Parallel()
	c, err := embedded.Start(t.Context(), embedded.Options{Gateways: 2})
	if err != nil {
		t.Fatal(err)
	}
	entered, release := make(chan struct{}), make(chan struct{})
	connect(t, c.Gateways[0], "slow", func(context.Context, node.Call) (node.Result, error) {
		close(entered)
		<-release
		return node.Text("done"), nil
	})
	called := make(chan error, 1)
	go func() {
		_, err := callTool(t.Context(), t, c.Gateways[1], "slow")
		called <- err
	}()
	<-entered
	stopped := make(chan error, 1)
	go func() { stopped <- c.Stop() }()
	testkit.Eventually(t, 10*time.Second, func() bool {
		resp, err := http.Get("http://" + c.Gateways[1].Admin + "/readyz")
		if err != nil {
			return false
		}
		defer resp.Body.Close()
		return resp.StatusCode == http.StatusServiceUnavailable
	}, "the gateways drain")
	select {
	case err := <-stopped:
		t.Errorf("it did not wait: %v", err)
	default:
	}
	close(release)
	if err := <-called; err != nil {
		t.Errorf("the call in flight: %v", err)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	select {
	case <-c.Done():
	default:
		t.Error("it is not done")
	}
}

func TestServersOfOthers(t *testing.T) {
	t.Parallel()
	redis, nats := testkit.OwnRedis(t), testkit.OwnNATS(t)
	c := start(t, embedded.Options{RedisURL: config.Secret(redis.URL()), NATSURL: config.Secret(nats.URL())})
	connect(t, c.Gateways[0], "hello", func(context.Context, node.Call) (node.Result, error) { return node.Text("hello"), nil })
	if _, err := callTool(t.Context(), t, c.Gateways[0], "hello"); err != nil {
		t.Error(err)
	}
	if c.NATSURL.Reveal() != nats.URL() || c.RedisURL.Reveal() != redis.URL() {
		t.Error("its own servers are used")
	}
}

// Where it cannot start it says why, and leaves nothing behind (goleak would tell).
func TestStartFails(t *testing.T) {
	t.Parallel()
	port := testkit.TakenPort(t)
	gone := testkit.OwnNATS(t)
	gone.Stop()
	for name, tt := range map[string]struct {
		o    embedded.Options
		says string
	}{
		"HTTP port of the second gateway": {embedded.Options{Gateways: 2, Ports: embedded.Ports{HTTP: port - 1}}, "gateway 1 cannot listen on its HTTP port"},
		"gRPC port":                       {embedded.Options{Ports: embedded.Ports{GRPC: port}}, "gateway 0 cannot listen on its gRPC port"},
		"admin port":                      {embedded.Options{Ports: embedded.Ports{Admin: port}}, "gateway 0 cannot listen on its admin port"},
		"registry's port":                 {embedded.Options{RegistryPorts: embedded.Ports{GRPC: port}}, "node-registry cannot listen on its gRPC port"},
		"orchestrator's port":             {embedded.Options{OrchestratorPorts: embedded.Ports{Admin: port}}, "agent-orchestrator cannot listen on its admin port"},
		"NATS that is away":               {embedded.Options{NATSURL: config.Secret(gone.URL()), StartTimeout: 300 * time.Millisecond}, "node-registry is not ready: bus"},
		"Redis that is away":              {embedded.Options{RedisURL: "redis://127.0.0.1:1", StartTimeout: 300 * time.Millisecond}, "redis"},
		"a wrong Redis":                   {embedded.Options{RedisURL: "http://x"}, "redis"},
		"a host of others":                {embedded.Options{Host: "192.0.2.1"}, "192.0.2.1"},
		"too many gateways":               {embedded.Options{Gateways: 70000, Ports: embedded.Ports{HTTP: 1}}, "no port"},
		"no gateways":                     {embedded.Options{Gateways: -1}, "at least one"},
		"a wrong gateway":                 {embedded.Options{Gateway: func(_ int, c *gateway.Config) { c.Auth.Mode = "jwt" }}, "gateway 0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := embedded.Start(t.Context(), tt.o)
			if err == nil {
				t.Fatal("it starts", c.Stop())
			}
			if !strings.Contains(err.Error(), tt.says) {
				t.Errorf("it says %v", err)
			}
			var wrong *embedded.PortError
			if strings.Contains(name, "port") && (!errors.As(err, &wrong) || wrong.Port != port) {
				t.Errorf("%#v", wrong)
			}
		})
	}
	t.Run("given up", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := embedded.Start(ctx, embedded.Options{}); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
}
