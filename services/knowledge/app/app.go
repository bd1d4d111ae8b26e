package app

import (
	"context"
	"log/slog"
	"net"
	"os"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hecaton-dev/hecaton/pkg/process/lifecycle"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/pkg/process/obs/otlp"
	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
	"github.com/hecaton-dev/hecaton/pkg/transport/rpc"
	"github.com/hecaton-dev/hecaton/services/knowledge/internal/announce"
	"github.com/hecaton-dev/hecaton/services/knowledge/internal/embed"
	"github.com/hecaton-dev/hecaton/services/knowledge/internal/jobs"
	"github.com/hecaton-dev/hecaton/services/knowledge/internal/search"
	"github.com/hecaton-dev/hecaton/services/knowledge/internal/store"
)

// Options are what a program that embeds the service hands over; all are optional.
type Options struct {
	Logger *slog.Logger
	// Version is what the pod says of its build.
	Version string
	// GRPCListener is the port of KnowledgeService, where it is open already: then GRPCAddr only names it.
	GRPCListener net.Listener
}

// service is this service's name in logs, traces and metrics.
const service = "knowledge"

// App is one replica of the knowledge service.
type App struct {
	// Static after construction.
	cfg      Config
	listener net.Listener // nil where GRPCAddr is to be opened
	log      *slog.Logger
	metrics  *prometheus.Registry
	ready    *lifecycle.Ready
	admin    *obs.Admin
	tracing  *obs.Tracing
	embedder embed.Embedder
	started  chan struct{} // closed when everything serves

	// Set while the parts start, in the order of Run.
	store     *store.Store
	bus       *bus.Conn // nil for none
	announcer *announce.Announcer
	searcher  *search.Searcher
	pool      *jobs.Pool
	grpc      *rpc.Server
}

// New checks the configuration and returns a replica that Run starts.
func New(cfg Config, opts Options) (*App, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if cfg.PodName == "" {
		cfg.PodName, _ = os.Hostname() // only a name in logs
	}
	embedder, err := newEmbedder(cfg.Embeddings)
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
		cfg: cfg, listener: opts.GRPCListener, log: log, metrics: obs.NewRegistry(self), ready: lifecycle.NewReady("started"),
		embedder: embedder, started: make(chan struct{}),
	}
	if a.tracing, err = obs.NewTracing(obs.TracingOptions{Pod: self, Ratio: cfg.Trace.Ratio, Exporter: exporter, Logger: log}); err != nil {
		return nil, err
	}
	a.admin, err = obs.NewAdmin(obs.AdminOptions{
		Addr: cfg.AdminAddr, Door: cfg.AdminDoor, Metrics: a.metrics, Ready: a.ready, Logger: log,
	})
	return a, err
}

// openAI is where the embeddings are where nothing says so.
const openAI = "https://api.openai.com/v1"

func newEmbedder(c Embeddings) (embed.Embedder, error) {
	if c.Kind == EmbeddingsOffline {
		return embed.Offline{}, nil
	}
	o := embed.OpenAIOptions{BaseURL: c.BaseURL, APIKey: c.Key, Name: c.Model}
	if o.BaseURL == "" {
		if o.BaseURL = c.ModelURL; o.BaseURL == "" {
			o.BaseURL = openAI
		}
		if o.APIKey == "" { // the key of one server is never sent to another
			o.APIKey = c.ModelKey
		}
	}
	return embed.NewOpenAI(o)
}

// Run starts the parts in order, serves until ctx ends, and stops them in reverse: requests in progress finish, workers let go of their
// documents, which others then take, and the connections close.
func (a *App) Run(ctx context.Context) error {
	g := &lifecycle.Group{Logger: a.log, StopTimeout: a.cfg.DrainDelay + a.cfg.StopTimeout}
	a.admin.AddTo(g)
	a.tracing.AddTo(g)
	g.Add("store", a.openStore, a.closeStore)
	g.Add("bus", a.openBus, a.closeBus)
	g.Add("parts", a.makeParts, a.closeParts)
	g.Go("workers", func(ctx context.Context) error { return a.pool.Run(ctx) }, nil)
	rpc.AddTo(g, a.listen, nil)
	g.Add("serving", a.begin, a.drain)
	return g.Run(ctx)
}

// begin is the moment from which the replica serves.
func (a *App) begin(context.Context) error {
	a.ready.Set("started", nil)
	close(a.started)
	a.log.Info("knowledge serves", "grpc", a.GRPCAddr(), "admin", a.AdminAddr(), "embeddings", a.embedder.Model())
	return nil
}

// drain stops new work once clients have had time to notice.
func (a *App) drain(ctx context.Context) error {
	a.ready.Drain()
	a.grpc.Drain()
	a.ready.Linger(ctx, a.cfg.DrainDelay)
	return nil
}

// Started is closed once the replica serves.
func (a *App) Started() <-chan struct{} { return a.started }

// GRPCAddr is the address of KnowledgeService, once Started is closed.
func (a *App) GRPCAddr() string { return a.grpc.Addr() }

// AdminAddr is the address of health, metrics and profiles, once Started is closed.
func (a *App) AdminAddr() string { return a.admin.Addr() }
