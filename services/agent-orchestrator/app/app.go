package app

import (
	"context"
	"log/slog"
	"os"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hecaton-dev/hecaton/pkg/lifecycle"
	"github.com/hecaton-dev/hecaton/pkg/obs"
	"github.com/hecaton-dev/hecaton/pkg/obs/otlp"
	"github.com/hecaton-dev/hecaton/pkg/rpc"
	"github.com/hecaton-dev/hecaton/pkg/toolclient"
)

// Options are what a program that embeds an orchestrator hands over; all are optional.
type Options struct {
	Logger *slog.Logger
	// Version is what the pod says of its build.
	Version string
}

// App is one agent-orchestrator.
type App struct {
	// Static after construction.
	cfg     Config
	version string
	log     *slog.Logger
	metrics *prometheus.Registry
	ready   *lifecycle.Ready
	admin   *obs.Admin
	tracing *obs.Tracing
	started chan struct{} // closed when everything serves

	// Set while the parts start, in the order of Run.
	tools *toolclient.Client
	grpc  *rpc.Server
}

// New checks the configuration and returns an orchestrator that Run starts.
func New(cfg Config, opts Options) (*App, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if cfg.PodName == "" {
		cfg.PodName, _ = os.Hostname() // only a name in logs
	}
	log := obs.OrDiscard(opts.Logger).With("service", "agent-orchestrator", "pod", cfg.PodName)
	exporter, err := otlp.New(context.Background(), cfg.Trace.Endpoint)
	if err != nil {
		return nil, err
	}
	a := &App{
		cfg: cfg, version: opts.Version, log: log, metrics: obs.NewRegistry(), ready: lifecycle.NewReady("started"),
		started: make(chan struct{}),
	}
	pod := obs.Pod{Service: "agent-orchestrator", Instance: cfg.PodName, Version: opts.Version}
	a.tracing = obs.NewTracing(pod, cfg.Trace.Ratio, exporter, log)
	a.admin = obs.NewAdmin(cfg.AdminAddr, a.metrics, a.ready, log)
	return a, nil
}

// Run starts the parts in order, serves until ctx ends, and stops them in reverse: readiness fails, requests in progress
// finish, then the calls of tools that are left end.
func (a *App) Run(ctx context.Context) error {
	g := &lifecycle.Group{Logger: a.log, StopTimeout: a.cfg.StopTimeout}
	a.admin.AddTo(g)
	a.tracing.AddTo(g)
	g.Add("tools", a.dialTools, a.closeTools)
	rpc.AddTo(g, a.listen, nil)
	g.Add("serving", a.begin, a.drain)
	return g.Run(ctx)
}

func (a *App) dialTools(context.Context) error {
	dial, err := a.cfg.Services.DialOptions()
	if err != nil {
		return err
	}
	a.tools, err = toolclient.Dial(toolclient.Options{
		Targets: a.cfg.Gateways, Dial: append(dial, a.tracing.DialOptions()...), Logger: a.log,
	})
	if err != nil {
		return err
	}
	a.ready.Watch("gateways", a.tools.Ready)
	return nil
}

func (a *App) closeTools(context.Context) error {
	a.tools.Close()
	return nil
}

// begin is the moment from which the pod serves.
func (a *App) begin(context.Context) error {
	a.ready.Set("started", nil)
	close(a.started)
	a.log.Info("agent-orchestrator serves", "grpc", a.GRPCAddr(), "admin", a.AdminAddr())
	return nil
}

func (a *App) drain(context.Context) error {
	a.ready.Drain()
	a.grpc.Drain()
	return nil
}

// Started is closed once the pod serves.
func (a *App) Started() <-chan struct{} { return a.started }

// Tools is the client with which agents call tools, once Started is closed and until Run returns.
func (a *App) Tools() *toolclient.Client { return a.tools }

// GRPCAddr is the address of AgentService, once Started is closed.
func (a *App) GRPCAddr() string { return a.grpc.Addr() }

// AdminAddr is the address of health, metrics and profiles, once Started is closed.
func (a *App) AdminAddr() string { return a.admin.Addr() }
