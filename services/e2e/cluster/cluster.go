package cluster

import (
	"context"
	"encoding/base64"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/security/access"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
	orchestrator "github.com/hecaton-dev/hecaton/services/agent-orchestrator/app"
	gateway "github.com/hecaton-dev/hecaton/services/gateway/app"
	registry "github.com/hecaton-dev/hecaton/services/node-registry/app"
)

// Options of a cluster; the zero value has two gateways, one registry and no orchestrator, in trusted mode.
type Options struct {
	// A negative number of Gateways means none, for a test that starts them itself. GatewayProcesses are further gateways,
	// each a process of its own (Gateway.Process).
	Gateways, Registries, GatewayProcesses int
	// Orchestrators know all gateways that Start starts, and all gateways know them.
	Orchestrators int
	// Knowledge is how many knowledge services there are, on Database or an SQLite file of their own; 0 for none.
	Knowledge int
	// OrchestratorProcesses makes each orchestrator a process of its own, which can be killed and paused.
	OrchestratorProcesses bool
	// Paired makes gateway i use only orchestrator i modulo their number, so that a test knows which one runs what.
	Paired bool
	// Database is the orchestrators' (see [EachStorage]); an SQLite file of the cluster's own where empty.
	Database string
	// Model is the URL of the OpenAI-compatible endpoint of requests that name none (package modeltest); where empty, each
	// orchestrator has an offline model.
	Model string
	// RedisURL and NATSURL name servers that are there already; where empty, the cluster has its own.
	RedisURL, NATSURL string
	// Gateway changes the configuration of gateway i before it starts.
	Gateway func(i int, c *gateway.Config)
	// NewGateway makes the gateways of this process; nil stands for [gateway.New].
	NewGateway func(gateway.Config, gateway.Options) (*gateway.App, error)
	// Limits has the limits of users as they are by default; most tests make more load as one user.
	Limits bool
	// Registry changes the configuration of every registry.
	Registry func(c *registry.Config)
	// Orchestrator changes the configuration of orchestrator i before it starts.
	Orchestrator func(i int, c *orchestrator.Config)
	// Clock is that by which the orchestrators' scheduled tasks fire; the machine's where it is zero.
	Clock Clock
	// Logger hears all pods of this process; where nil, they are silent unless TEST_LOG is set.
	Logger *slog.Logger
}

// Cluster is a running cluster.
type Cluster struct {
	t        testing.TB
	NATS     *testkit.Server      // nil where Options named one
	Redis    *testkit.RedisServer // nil where Options named one
	Gateways []*Gateway
	// Registries are the replicas; the gateways know all of them.
	Registries []*Pod
	// Orchestrators are those of Options.
	Orchestrators []*Orchestrator
	// Knowledge are those of Options.
	Knowledge []*Pod
	// Blobs is the directory that has the files of users.
	Blobs string
	opts  Options
}

// Pod is one running service.
type Pod struct {
	Addr  string // of its gRPC server
	Admin string
	stop  context.CancelFunc
	done  chan error
	once  sync.Once
}

// Gateway is one running gateway.
type Gateway struct {
	Pod
	HTTP, GRPC string
	Tools      toolv1.ToolServiceClient
	Process    *Process // nil where it runs in this process
	conn       *grpc.ClientConn
}

// Start starts a cluster that ends with the test.
func Start(t testing.TB, opts Options) *Cluster {
	t.Helper()
	c := &Cluster{t: t, opts: opts}
	if opts.NATSURL == "" {
		c.NATS = testkit.OwnNATS(t)
		c.opts.NATSURL = c.NATS.URL()
	}
	if opts.RedisURL == "" {
		c.Redis = testkit.OwnRedis(t)
		c.opts.RedisURL = c.Redis.URL()
	}
	for range max(1, opts.Registries) {
		c.StartRegistry()
	}
	c.startKnowledge()
	c.placeOrchestrators()
	n := opts.Gateways
	if n == 0 {
		n = 2
	}
	for range n {
		c.StartGateway()
	}
	for range opts.GatewayProcesses {
		c.StartGatewayProcess()
	}
	for _, o := range c.Orchestrators {
		o.Start()
	}
	return c
}

// natsURL has the credentials of a service: as in a deployment, pods have only the rights that their service needs.
func (c *Cluster) natsURL(s access.Service) config.Secret {
	return config.Secret(testkit.As(s, c.opts.NATSURL))
}

// redisURL is like natsURL, where the Redis is the cluster's own.
func (c *Cluster) redisURL(s access.Service) config.Secret {
	if c.Redis == nil {
		return config.Secret(c.opts.RedisURL)
	}
	return config.Secret(c.Redis.URLFor(s))
}

func (c *Cluster) logger() *slog.Logger {
	if c.opts.Logger != nil {
		return c.opts.Logger
	}
	return logger()
}

func logger() *slog.Logger {
	if os.Getenv("TEST_LOG") == "" {
		return nil
	}
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// StartRegistry adds a registry. Gateways that run already do not know it.
func (c *Cluster) StartRegistry() *Pod {
	c.t.Helper()
	p := c.startRegistry(c.registryConfig(len(c.Registries), "127.0.0.1:0"))
	c.Registries = append(c.Registries, p)
	return p
}

// RestartRegistry stops registry i, unless it was stopped, and starts it again where it was.
func (c *Cluster) RestartRegistry(i int) {
	c.t.Helper()
	c.Registries[i].Stop(c.t)
	c.Registries[i] = c.startRegistry(c.registryConfig(i, c.Registries[i].Addr))
}

func (c *Cluster) registryConfig(i int, addr string) registry.Config {
	var cfg registry.Config
	must(c.t, config.Defaults(&cfg))
	cfg.PodName = fmt.Sprintf("registry-%d", i)
	cfg.GRPCAddr, cfg.AdminAddr = addr, "127.0.0.1:0"
	cfg.RedisURL, cfg.NATSURL = c.redisURL(access.NodeRegistry), c.natsURL(access.NodeRegistry)
	cfg.DrainDelay = 0
	if c.opts.Registry != nil {
		c.opts.Registry(&cfg)
	}
	return cfg
}

func (c *Cluster) startRegistry(cfg registry.Config) *Pod {
	c.t.Helper()
	app, err := registry.New(cfg, registry.Options{Logger: c.logger()})
	must(c.t, err)
	p := &Pod{}
	p.run(c.t, app.Run, app.Started())
	p.Addr, p.Admin = app.GRPCAddr(), app.AdminAddr()
	return p
}

// StartGateway adds a gateway, whose configuration change may change.
func (c *Cluster) StartGateway(change ...func(*gateway.Config)) *Gateway {
	c.t.Helper()
	cfg := c.GatewayConfig(len(c.Gateways))
	for _, f := range change {
		f(&cfg)
	}
	start := gateway.New
	if c.opts.NewGateway != nil {
		start = c.opts.NewGateway
	}
	app, err := start(cfg, gateway.Options{Logger: c.logger()})
	must(c.t, err)
	g := &Gateway{}
	g.run(c.t, app.Run, app.Started())
	g.HTTP, g.GRPC, g.Admin, g.Addr = app.HTTPAddr(), app.GRPCAddr(), app.AdminAddr(), app.GRPCAddr()
	g.connect(c.t)
	c.Gateways = append(c.Gateways, g)
	return g
}

// Conn is the connection to the gateway's gRPC server.
func (g *Gateway) Conn() *grpc.ClientConn { return g.conn }

func (g *Gateway) connect(t testing.TB) {
	t.Helper()
	var err error
	g.conn, err = grpc.NewClient("passthrough:///"+g.GRPC, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(40<<20), grpc.MaxCallSendMsgSize(40<<20)))
	must(t, err)
	t.Cleanup(func() { _ = g.conn.Close() })
	g.Tools = toolv1.NewToolServiceClient(g.conn)
}

// GatewayConfig returns the configuration of gateway i, with free ports.
func (c *Cluster) GatewayConfig(i int) gateway.Config {
	var cfg gateway.Config
	must(c.t, config.Defaults(&cfg))
	cfg.PodName = fmt.Sprintf("gateway-%d", i)
	cfg.HTTPAddr, cfg.GRPCAddr, cfg.AdminAddr = "127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0"
	cfg.PeerAddr = "127.0.0.1:0"
	cfg.NATSURL = c.natsURL(access.Gateway)
	cfg.RegistryAddr, cfg.OrchestratorAddr = c.registryTarget(), c.orchestratorTarget(i)
	cfg.KnowledgeAddr = c.knowledgeTarget()
	cfg.Auth.Mode = auth.Trusted
	cfg.MCPKeys = config.Secret(base64.StdEncoding.EncodeToString([]byte("the key of MCP of these tests...")))
	if !c.opts.Limits {
		cfg.Limits = gateway.Config{}.Limits
	}
	cfg.DrainDelay, cfg.DrainSpread, cfg.DrainGrace = 0, 200*time.Millisecond, 5*time.Second
	if c.opts.Gateway != nil {
		c.opts.Gateway(i, &cfg)
	}
	return cfg
}

func (c *Cluster) registryTarget() string {
	addrs := make([]string, len(c.Registries))
	for i, r := range c.Registries {
		addrs[i] = r.Addr
	}
	return strings.Join(addrs, ",")
}

// Registry returns a client of registry i.
func (c *Cluster) Registry(i int) nodev1.NodeRegistryServiceClient {
	cc, err := grpc.NewClient("passthrough:///"+c.Registries[i].Addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	must(c.t, err)
	c.t.Cleanup(func() { _ = cc.Close() })
	return nodev1.NewNodeRegistryServiceClient(cc)
}

func (p *Pod) run(t testing.TB, run func(context.Context) error, started <-chan struct{}) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	p.stop, p.done = cancel, make(chan error, 1)
	go func() { p.done <- run(ctx) }()
	t.Cleanup(func() { p.Stop(t) })
	select {
	case <-started:
	case err := <-p.done:
		p.done <- err
		t.Fatalf("pod ended while it started: %v", err)
	case <-time.After(30 * time.Second):
		t.Fatal("pod did not start")
	}
}

// Stop stops the pod as SIGTERM does, and waits for its end.
func (p *Pod) Stop(t testing.TB) {
	p.once.Do(func() {
		p.stop()
		select {
		case err := <-p.done:
			if err != nil {
				t.Errorf("pod ended with: %v", err)
			}
		case <-time.After(60 * time.Second):
			t.Error("pod did not stop")
		}
	})
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
