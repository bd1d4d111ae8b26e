package app

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"
	"google.golang.org/grpc"

	"github.com/hecaton-dev/hecaton/pkg/process/lifecycle"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/pkg/process/obs/otlp"
	"github.com/hecaton-dev/hecaton/pkg/security/seal"
	"github.com/hecaton-dev/hecaton/pkg/tool/toolclient"
	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
	"github.com/hecaton-dev/hecaton/pkg/transport/rpc"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/admission"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/agent"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/allowlist"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/grpcapi"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/live"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/llm"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/memory"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/netguard"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/schedule"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/skill"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool/knowledge"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool/mcp"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool/oauth"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/toolbox"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/workspace"
)

// Options are what a program that embeds an orchestrator hands over; all are optional.
type Options struct {
	Logger *slog.Logger
	// Version is what the pod says of its build.
	Version string
	// GRPCListener is the port of AgentService, where it is open already: then GRPCAddr only names it.
	GRPCListener net.Listener
	// Now is the clock by which scheduled tasks fire; nil is the machine's.
	Now func() time.Time
}

// service is this service's name in logs, traces and metrics.
const service = "agent-orchestrator"

// App is one agent-orchestrator.
type App struct {
	// Static after construction.
	cfg      Config
	version  string
	listener net.Listener // nil where GRPCAddr is to be opened
	now      func() time.Time
	log      *slog.Logger
	metrics  *prometheus.Registry
	ready    *lifecycle.Ready
	admin    *obs.Admin
	tracing  *obs.Tracing
	box      *seal.Box
	guard    *netguard.Guard
	started  chan struct{} // closed when everything serves

	// Set while the parts start, in the order of Run.
	store     *store.Store
	redis     redis.UniversalClient // nil without a cache
	files     *workspace.Store
	skills    *skill.Library
	memories  *memory.Keeper
	bus       *bus.Conn // nil where this pod is alone
	live      *live.Hub
	tools     *toolclient.Client
	servers   *mcp.Source
	saved     *toolbox.Changes
	oauth     *oauth.Source
	sources   []tool.Source
	knowledge *grpc.ClientConn // nil without knowledge services, as is documents
	documents *knowledge.Source
	allowlist *allowlist.Resolver
	admitter  *admission.Admitter
	toolbox   *toolbox.Server
	model     *llm.Client
	offline   *offlineServer // nil where another model is configured
	endpoint  llm.Endpoint
	engine    *agent.Engine
	schedule  *schedule.Scheduler
	api       *grpcapi.Server
	grpc      *rpc.Server
}

// New checks the configuration and returns an orchestrator that Run starts.
func New(cfg Config, opts Options) (*App, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if cfg.PodName == "" {
		cfg.PodName, _ = os.Hostname() // only a name in logs
	}
	box, err := seal.New(cfg.SecretKeys.Keys()...)
	if err != nil {
		return nil, err
	}
	guard, err := netguard.New(cfg.Addresses)
	if err != nil {
		return nil, err
	}
	log := obs.OrDiscard(opts.Logger).With("service", service, "pod", cfg.PodName)
	self := obs.Pod{Service: service, Instance: cfg.PodName, Version: opts.Version}
	exporter, err := otlp.New(context.Background(), cfg.Trace.Endpoint)
	if err != nil {
		return nil, err
	}
	a := &App{
		cfg: cfg, version: opts.Version, listener: opts.GRPCListener, now: opts.Now, log: log, metrics: obs.NewRegistry(self), ready: lifecycle.NewReady("started"),
		box: box, guard: guard, started: make(chan struct{}),
	}
	if a.tracing, err = obs.NewTracing(obs.TracingOptions{Pod: self, Ratio: cfg.Trace.Ratio, Exporter: exporter, Logger: log}); err != nil {
		return nil, err
	}
	a.admin, err = obs.NewAdmin(obs.AdminOptions{
		Addr: cfg.AdminAddr, Door: cfg.AdminDoor, Metrics: a.metrics, Ready: a.ready, Logger: log,
	})
	return a, err
}

// Run starts the parts in order, serves until ctx ends, and stops them in reverse:
//
//  1. Readiness fails, and those who ask have DrainDelay to notice; then new runs are refused.
//  2. The runs of this pod are let go of, and others adopt them; then streams end, and their clients follow elsewhere.
//  3. Requests in progress finish, and the connections close.
func (a *App) Run(ctx context.Context) error {
	g := &lifecycle.Group{Logger: a.log, StopTimeout: a.cfg.DrainDelay + a.cfg.StopTimeout}
	a.admin.AddTo(g)
	a.tracing.AddTo(g)
	g.Add("store", a.openStore, a.closeStore)
	g.Add("files", a.openFiles, a.closeFiles)
	g.Add("bus", a.openBus, a.closeBus)
	g.Add("live", a.openLive, a.closeLive)
	g.Add("tools", a.dialTools, a.closeTools)
	g.Add("sources", a.openSources, a.closeSources)
	g.Add("model", a.openModel, a.closeModel)
	g.Add("engine", a.startEngine, a.stopEngine)
	g.Add("schedule", a.startSchedule, a.stopSchedule)
	rpc.AddTo(g, a.listen, nil)
	g.Add("serving", a.begin, a.drain)
	return g.Run(ctx)
}

// begin is the moment from which the pod serves.
func (a *App) begin(context.Context) error {
	a.ready.Set("started", nil)
	close(a.started)
	a.log.Info("agent-orchestrator serves", "grpc", a.GRPCAddr(), "admin", a.AdminAddr())
	return nil
}

func (a *App) drain(ctx context.Context) error {
	a.ready.Drain()
	a.grpc.Drain()
	a.ready.Linger(ctx, a.cfg.DrainDelay)
	a.api.Drain()
	err := errors.Join(a.schedule.Stop(ctx), a.engine.Stop(ctx))
	a.live.Drain()
	a.servers.Drain()
	return err
}

// Started is closed once the pod serves.
func (a *App) Started() <-chan struct{} { return a.started }

// Tools is the client with which agents call tools, once Started is closed and until Run returns.
func (a *App) Tools() *toolclient.Client { return a.tools }

// GRPCAddr is the address of AgentService, once Started is closed.
func (a *App) GRPCAddr() string { return a.grpc.Addr() }

// AdminAddr is the address of health, metrics and profiles, once Started is closed.
func (a *App) AdminAddr() string { return a.admin.Addr() }
