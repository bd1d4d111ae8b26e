package cluster

import (
	"encoding/base64"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/model/modeltest"
	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/security/access"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	orchestrator "github.com/hecaton-dev/hecaton/services/agent-orchestrator/app"
)

// LeaseTTL is that of deployed orchestrators: about so long after an orchestrator was killed another one adopts its runs.
// With a shorter one, a busy machine would take runs from pods that are alive.
const LeaseTTL = 5 * time.Second

// Orchestrator is one agent-orchestrator. When it is started again it has the same address and database.
type Orchestrator struct {
	GRPC  string // the same before and after a restart
	Admin string
	// Process is nil while it is down, and where it runs in this process.
	Process *Process

	c    *Cluster
	i    int
	pod  *Pod         // nil while it is down, and where it is a process of its own
	held net.Listener // keeps others from its port until it starts
}

// placeOrchestrators chooses their ports: gateways that start before them know where they will be.
func (c *Cluster) placeOrchestrators() {
	if c.opts.Orchestrators == 0 {
		return
	}
	c.Blobs = c.t.TempDir()
	if c.opts.Database == "" {
		c.opts.Database = "sqlite://" + c.t.TempDir() + "/agents.db"
	}
	for i := range c.opts.Orchestrators {
		o := &Orchestrator{c: c, i: i}
		for o.held == nil { // somebody may take the port meanwhile
			o.GRPC = fmt.Sprintf("127.0.0.1:%d", testkit.FreePort())
			o.held, _ = net.Listen("tcp", o.GRPC)
		}
		c.t.Cleanup(func() { _ = o.held.Close() })
		c.Orchestrators = append(c.Orchestrators, o)
	}
}

// Database is the URL of the orchestrators' database.
func (c *Cluster) Database() string { return c.opts.Database }

// orchestratorTarget is whom gateway i asks.
func (c *Cluster) orchestratorTarget(i int) string {
	if n := len(c.Orchestrators); c.opts.Paired && n > 0 {
		return c.Orchestrators[i%n].GRPC
	}
	addrs := make([]string, len(c.Orchestrators))
	for i, o := range c.Orchestrators {
		addrs[i] = o.GRPC
	}
	return strings.Join(addrs, ",")
}

func (o *Orchestrator) config() orchestrator.Config {
	var cfg orchestrator.Config
	for _, g := range o.c.Gateways {
		cfg.Gateways = append(cfg.Gateways, g.GRPC)
	}
	must(o.c.t, config.Defaults(&cfg))
	cfg.PodName = fmt.Sprintf("orchestrator-%d", o.i)
	cfg.GRPCAddr, cfg.AdminAddr = o.GRPC, "127.0.0.1:0"
	cfg.DatabaseURL, cfg.BlobURL = config.Secret(o.c.opts.Database), config.Secret("file://"+o.c.Blobs)
	cfg.KnowledgeAddr = o.c.knowledgeTarget()
	cfg.SecretKeys = config.Secret(base64.StdEncoding.EncodeToString([]byte("a key of these tests, 32 bytes..")))
	cfg.RedisURL, cfg.NATSURL = o.c.redisURL(access.AgentOrchestrator), o.c.natsURL(access.AgentOrchestrator)
	cfg.LLM, cfg.LeaseTTL, cfg.DrainDelay, cfg.StopTimeout = orchestrator.LLMOffline, LeaseTTL, 0, 5*time.Second
	if o.c.opts.Model != "" {
		cfg.LLM, cfg.OpenAIURL, cfg.OpenAIModel = orchestrator.LLMOpenAI, o.c.opts.Model, modeltest.Model
	}
	cfg.Addresses.Private = true // models and MCP servers of tests are on loopback
	if !o.c.opts.Limits {
		cfg.Limits = orchestrator.Limits{}
	}
	if o.c.opts.Orchestrator != nil {
		o.c.opts.Orchestrator(o.i, &cfg)
	}
	return cfg
}

// Start brings an orchestrator that is down back where it was.
func (o *Orchestrator) Start() {
	t := o.c.t
	t.Helper()
	_ = o.held.Close() // the first time
	if o.c.opts.OrchestratorProcesses {
		var addrs []string
		o.Process, addrs = o.c.startProcess("orchestrator", o.config())
		o.Admin = addrs[1]
		return
	}
	app, err := orchestrator.New(o.config(), orchestrator.Options{Logger: o.c.logger(), Version: "test", Now: o.c.opts.Clock.now()})
	must(t, err)
	o.pod = &Pod{}
	o.pod.run(t, app.Run, app.Started())
	o.Admin = app.AdminAddr()
}

// Stop ends the orchestrator as SIGTERM does, and waits for its end.
func (o *Orchestrator) Stop(t testing.TB) {
	t.Helper()
	if o.Process != nil {
		o.Process.Terminate(t)
	}
	if o.pod != nil {
		o.pod.Stop(t)
	}
	o.Process, o.pod = nil, nil
}

// Kill kills the orchestrator, which must be a process of its own.
func (o *Orchestrator) Kill() {
	o.Process.Kill()
	o.Process = nil
}

// Metric reads a sample of the orchestrator's /metrics by its full name, labels included; 0 where it is missing.
func (o *Orchestrator) Metric(t testing.TB, name string) float64 {
	t.Helper()
	return metric(t, o.Admin, name)
}

// EachStorage runs a test on each kind of database (Options.Database), at the same time.
func EachStorage(t *testing.T, f func(t *testing.T, database string)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		f(t, "")
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		f(t, testkit.Postgres(t))
	})
}
