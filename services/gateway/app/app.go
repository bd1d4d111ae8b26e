package app

import (
	"context"
	"log/slog"
	"os"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/process/lifecycle"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/pkg/process/obs/otlp"
	"github.com/hecaton-dev/hecaton/pkg/security/access"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	"github.com/hecaton-dev/hecaton/pkg/security/webguard"
	"github.com/hecaton-dev/hecaton/pkg/tool/tooldef"
	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
	"github.com/hecaton-dev/hecaton/pkg/transport/rpc"
	"github.com/hecaton-dev/hecaton/pkg/transport/target"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/agentapi"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/apidoc"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/edge"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/knowledgeapi"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/resource"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/rest"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/toolapi"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/directory"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/fanout"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/holder"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/peer"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/router"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/witness"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/dialect"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/held/hub"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/pod/drain"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/pod/limits"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/pod/metrics"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/pod/presence"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/pod/pulse"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/pod/tokens"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/frame"
)

// Options are what a program that embeds a gateway hands over; all are optional.
type Options struct {
	Logger *slog.Logger
	// Version is what the pod says of its build.
	Version string
	// Dialects are further client protocols that the gateway serves, beside its own.
	Dialects []dialect.Dialect
}

// App is one gateway.
type App struct {
	// Static after construction.
	cfg     Config
	id      ids.GatewayID
	log     *slog.Logger
	metrics *prometheus.Registry
	ready   *lifecycle.Ready
	admin   *obs.Admin
	tracing *obs.Tracing
	auth    *auth.Authenticator
	spoken  []dialect.Dialect
	pages   *webguard.Guard
	version string

	// Set while the parts start, in the order of Run.
	bus       *bus.Conn
	registry  *grpc.ClientConn
	agents    *grpc.ClientConn // nil where there are none
	knowledge *grpc.ClientConn // likewise
	book      *tokens.Book     // nil where there is no orchestrator
	presence  *presence.Client
	defs      *tooldef.Cache
	directory *directory.Directory
	hub       *hub.Hub
	witness   *witness.Witness
	holder    *holder.Holder
	router    *router.Router
	counts    *metrics.Metrics
	job       *drain.Job
	streams   drain.Streams
	budget    *frame.Budget
	links     *peer.Links
	peers     *peer.Server // nil where there is none
	fanout    *fanout.Fanout
	limits    *limits.Limiter
	pulse     *pulse.Pulse
	dialects  *dialect.Server
	grpc      *rpc.Server
	tools     *toolapi.Service
	edge      *edge.Server
	front     front

	draining chan struct{} // closed when the drain begins
	started  chan struct{} // closed when everything serves
}

// New checks the configuration and returns a gateway that Run starts.
func New(cfg Config, opts Options) (*App, error) {
	if cfg.PodName == "" {
		cfg.PodName, _ = os.Hostname() // only a name in logs
	}
	log := obs.OrDiscard(opts.Logger).With("service", service, "pod", cfg.PodName)
	self := obs.Pod{Service: service, Instance: cfg.PodName, Version: opts.Version}
	a := &App{
		cfg: cfg, version: opts.Version, id: ids.NewGatewayID(cfg.PodName), log: log, metrics: obs.NewRegistry(self),
		ready: lifecycle.NewReady("started"), hub: hub.New(),
		draining: make(chan struct{}), started: make(chan struct{}),
		budget: frame.NewBudget(int64(cfg.InFlight)),
	}
	a.spoken = slices.Concat(dialects, opts.Dialects)
	a.counts = metrics.New(a.metrics, a.clients())
	a.job = drain.New(drain.Config{
		Pod: pod{a}, Begin: a.leave, Delay: cfg.DrainDelay, Pace: cfg.pace(), Logger: log,
	})
	metrics.Gauges(a.metrics, a.clients(), a.hub, a.job)
	a.measureFrames()
	var err error
	if a.auth, err = auth.New(cfg.Auth, log); err != nil {
		return nil, err
	}
	if a.pages, err = cfg.Pages.Guard(cfg.HTTPAddr, cfg.Auth.Mode == auth.Trusted, log); err != nil {
		return nil, err
	}
	exporter, err := otlp.New(context.Background(), cfg.Trace.Endpoint)
	if err != nil {
		return nil, err
	}
	if a.tracing, err = obs.NewTracing(obs.TracingOptions{Pod: self, Ratio: cfg.Trace.Ratio, Exporter: exporter, Logger: log}); err != nil {
		return nil, err
	}
	a.admin, err = obs.NewAdmin(obs.AdminOptions{
		Addr: cfg.AdminAddr, Door: cfg.AdminDoor, Metrics: a.metrics, Ready: a.ready, Logger: log,
	})
	if err != nil {
		return nil, err
	}
	a.admin.Handle(drain.Path, a.job.Handler())
	return a, nil
}

// Run starts the parts in order, serves until ctx ends, drains, and stops them in reverse.
func (a *App) Run(ctx context.Context) error {
	g := &lifecycle.Group{Logger: a.log, StopTimeout: a.cfg.DrainDelay + a.cfg.DrainGrace + lastWords}
	a.admin.AddTo(g)
	a.tracing.AddTo(g)
	g.Add("bus", a.startBus, stop(func() { a.bus.Close() }))
	g.Add("registry", a.startRegistry, stop(func() { a.presence.Close(); _ = a.registry.Close() }))
	g.Add("limits", a.startLimits, stop(func() { a.limits.Close() }))
	g.Add("orchestrators", a.startAgents, a.stopAgents)
	g.Add("knowledge", a.startKnowledge, a.stopKnowledge)
	g.Add("tokens", a.startTokens, a.stopTokens)
	g.Go("jwks", a.auth.Run, nil)
	g.Add("links", a.startLinks, stop(func() { a.links.Close() }))
	g.Add("witness", a.startWitness, stop(func() { a.witness.Close() }))
	g.Add("holder", a.startHolder, stop(func() { a.holder.Close() }))
	g.Add("directory", a.startDirectory, stop(func() { a.directory.Close() }))
	g.Add("router", a.startRouter, stop(func() { a.router.Close() }))
	g.Add("peers", a.startPeers, a.stopPeers)
	g.Add("fanout", a.startFanout, stop(func() { a.fanout.Close() }))
	g.Add("mcp", a.startMCP, stop(func() { a.front.close() }))
	g.Add("pulse", a.startPulse, stop(func() { a.pulse.Close() }))
	g.Add("dialects", a.startDialects, stop(func() { a.dialects.Close() }))
	rpc.AddTo(g, a.listenGRPC, func() { a.tools.Wait() })
	g.Add("edge listener", a.listenEdge, nil)
	g.Go("edge", func(ctx context.Context) error { return a.edge.Serve(ctx) }, func(ctx context.Context) error { return a.edge.Shutdown(ctx) })
	g.Add("drain", a.begin, a.drain)
	return g.Run(ctx)
}

func stop(f func()) func(context.Context) error {
	return func(context.Context) error {
		f()
		return nil
	}
}

func (a *App) startBus(ctx context.Context) (err error) {
	a.bus, err = bus.Connect(ctx, bus.Options{
		URL: a.cfg.NATSURL.Reveal(), Name: string(a.id), Service: access.Gateway, CredsFile: a.cfg.NATSCreds, TLS: a.cfg.NATSTLS,
		Logger: a.log,
	})
	if err != nil {
		return err
	}
	a.bus.Measure(a.metrics, service)
	a.ready.Watch("bus", func(context.Context) error {
		if !a.bus.Up() {
			return lifecycle.ErrNotYet
		}
		return nil
	})
	return nil
}

func (a *App) startRegistry(context.Context) error {
	opts, err := a.cfg.Services.DialOptions()
	if err != nil {
		return err
	}
	opts = append(append(opts, a.tracing.DialOptions()...), a.measureRegistry())
	addr, balance := target.RoundRobin(a.cfg.RegistryAddr, nodev1.NodeRegistryService_ServiceDesc.ServiceName)
	opts = append(append(opts, balance...), grpc.WithConnectParams(reconnect))
	if a.registry, err = grpc.NewClient(addr, opts...); err != nil {
		return err
	}
	a.presence = presence.New(a.registry, a.id)
	a.defs = tooldef.NewCache(a.presence.Tools)
	return nil
}

func (a *App) startLimits(context.Context) error {
	a.limits = limits.New(limits.Config{Settings: a.cfg.Limits, Registry: a.presence, Metrics: a.metrics, Logger: a.log})
	return nil
}

func (a *App) startWitness(context.Context) (err error) {
	a.witness, err = witness.New(witness.Options{Gateway: a.id, Bus: a.bus, Logger: a.log})
	return err
}

func (a *App) startHolder(context.Context) (err error) {
	a.holder, err = holder.New(holder.Config{
		Gateway: a.id, Bus: a.bus, Hub: a.hub, Registry: a.presence, Witness: a.witness, Links: a.links, MaxFrame: int(a.cfg.MaxFrame), Logger: a.log,
		Attached: a.attached, Tracing: a.tracing,
	})
	return err
}

func (a *App) startDirectory(context.Context) (err error) {
	a.directory, err = directory.New(directory.Options{Registry: a.presence, Bus: a.bus})
	return err
}

func (a *App) startRouter(context.Context) (err error) {
	a.router, err = router.New(router.Config{
		Gateway: a.id, Bus: a.bus, Local: a.holder, Directory: a.directory, Witness: a.witness,
		MaxFrame: int(a.cfg.MaxFrame), MaxReply: int(a.cfg.MaxReply), CallEnded: a.counts.CallEnded, Tracing: a.tracing, Logger: a.log,
	})
	if err != nil {
		return err
	}
	a.measureRouter()
	return nil
}

func (a *App) startFanout(context.Context) error {
	a.fanout = fanout.New(a.bus, a.log)
	return nil
}

func (a *App) startPulse(context.Context) error {
	a.pulse = pulse.Start(pulse.Config{
		Hub: a.hub, Holder: a.holder, Registry: a.presence,
		PingEvery: a.cfg.PingInterval, SilenceLimit: a.cfg.HeartbeatLimit, Batch: a.beaten, Logger: a.log,
	})
	a.bus.OnReconnect(a.pulse.BeatAll)
	return nil
}

func (a *App) listenEdge(ctx context.Context) error {
	api := &rest.API{Auth: a.auth, Presence: a.presence, Caller: a.router, Limits: a.limits, MaxBody: int64(a.cfg.MaxFrame) + 64<<10}
	// What a request passes, in order.
	layers := edge.Layers(
		a.cfg.bodyPace().Handler,
		edge.Leaving(a.ready.Draining),
		edge.Text(a.dialects.Serves),
		edge.Pages(a.pages),
		edge.JSONOnly(agentapi.FilesPath, slices.Concat(agentapi.Uploads, knowledgeapi.Uploads)...),
		a.tracing.Handler,
	)
	docs, err := apidoc.New()
	if err != nil {
		return err
	}
	parts := []edge.Routes{a.dialects, api, docs, &resource.API{Auth: a.auth}}
	var runs *agentapi.API
	if a.agents != nil {
		if runs, err = a.agentAPI(); err != nil {
			return err
		}
		parts = append(parts, runs)
	}
	if a.knowledge != nil {
		parts = append(parts, knowledgeapi.New(a.auth, a.limits, a.knowledge))
	}
	front, err := a.mcpAPI(runs)
	if err != nil {
		return err
	}
	parts = append(parts, front)
	unknown, err := a.unknownLimit("http")
	if err != nil {
		return err
	}
	a.edge = edge.New(a.cfg.HTTPAddr, a.log, unknown, layers, parts...)
	return a.edge.Listen(ctx)
}

// begin is the moment from which the pod serves.
func (a *App) begin(context.Context) error {
	a.ready.Watch("jwks", a.auth.Check)
	a.ready.Set("started", nil)
	a.job.Open()
	close(a.started)
	a.log.Info("gateway serves", "http", a.edge.Addr(), "grpc", a.grpc.Addr(), "admin", a.admin.Addr())
	return nil
}

// Started is closed once the gateway serves.
func (a *App) Started() <-chan struct{} { return a.started }

// HTTPAddr is the public address; like the others it is known once Started is closed.
func (a *App) HTTPAddr() string { return a.edge.Addr() }

// GRPCAddr is the address of ToolService.
func (a *App) GRPCAddr() string { return a.grpc.Addr() }

// AdminAddr is the address of health, metrics and profiles.
func (a *App) AdminAddr() string { return a.admin.Addr() }

// ID names this gateway in the registry.
func (a *App) ID() string { return string(a.id) }
