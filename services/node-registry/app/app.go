package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"github.com/hecaton-dev/hecaton/pkg/process/lifecycle"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/pkg/process/obs/otlp"
	"github.com/hecaton-dev/hecaton/pkg/security/access"
	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
	"github.com/hecaton-dev/hecaton/pkg/transport/redisclient"
	"github.com/hecaton-dev/hecaton/pkg/transport/rpc"
	"github.com/hecaton-dev/hecaton/services/node-registry/internal/grpcapi"
	"github.com/hecaton-dev/hecaton/services/node-registry/internal/lease"
	"github.com/hecaton-dev/hecaton/services/node-registry/internal/store"
	"github.com/hecaton-dev/hecaton/services/node-registry/internal/watch"
)

// Options are what a program that embeds a registry hands over; all are optional.
type Options struct {
	Logger *slog.Logger
	// Version is what the pod says of its build.
	Version string
	// Redis is used instead of Config.RedisURL, and stays the caller's.
	Redis redis.UniversalClient
	// NATS is used instead of Config.NATSURL, and stays the caller's. It must hear itself (no nats.NoEcho).
	NATS *nats.Conn
}

// service is this service's name in logs, traces and metrics.
const service = "node-registry"

// App is one replica of the node-registry.
type App struct {
	// Static after construction.
	cfg     Config
	opts    Options
	log     *slog.Logger
	metrics *prometheus.Registry
	ready   *lifecycle.Ready
	admin   *obs.Admin
	tracing *obs.Tracing
	started chan struct{} // closed when everything serves

	// Set while the parts start, in the order of Run.
	redis     redis.UniversalClient
	store     *store.Store
	nats      *nats.Conn
	closeNATS func()
	feed      *watch.Feed
	sweeper   *lease.Sweeper
	listener  *lease.Listener
	api       *grpcapi.Server
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
	log := obs.OrDiscard(opts.Logger).With("service", service, "pod", cfg.PodName)
	exporter, err := otlp.New(context.Background(), cfg.Trace.Endpoint)
	if err != nil {
		return nil, err
	}
	pod := obs.Pod{Service: service, Instance: cfg.PodName, Version: opts.Version}
	a := &App{
		cfg: cfg, opts: opts, log: log, metrics: obs.NewRegistry(pod), ready: lifecycle.NewReady("started"),
		started: make(chan struct{}),
	}
	if a.tracing, err = obs.NewTracing(obs.TracingOptions{Pod: pod, Ratio: cfg.Trace.Ratio, Exporter: exporter, Logger: log}); err != nil {
		return nil, err
	}
	a.admin, err = obs.NewAdmin(obs.AdminOptions{
		Addr: cfg.AdminAddr, Door: cfg.AdminDoor, Metrics: a.metrics, Ready: a.ready, Logger: log,
	})
	return a, err
}

// Run starts the parts in order, serves until ctx ends, and stops them in reverse:
//
//  1. Readiness fails; streams of events end, their clients watch elsewhere; requests in progress finish.
//  2. The sweep in progress finishes.
//  3. What was announced reaches the bus, and the connections close.
func (a *App) Run(ctx context.Context) error {
	g := &lifecycle.Group{Logger: a.log, StopTimeout: a.cfg.DrainDelay + a.cfg.StopTimeout}
	a.admin.AddTo(g)
	a.tracing.AddTo(g)
	g.Add("redis", a.openRedis, a.closeRedis)
	g.Add("bus", a.openBus, a.closeBus)
	g.Go("watches", func(ctx context.Context) error { return a.feed.Run(ctx) }, nil)
	g.Add("sweeper", a.makeSweeper, nil)
	g.Go("silences", func(ctx context.Context) error { return a.listener.Run(ctx) }, nil)
	g.Go("sweeps", func(ctx context.Context) error { return a.sweeper.Run(ctx) }, nil)
	rpc.AddTo(g, a.listen, func() { a.api.Wait() })
	g.Add("serving", a.begin, a.drain)
	return g.Run(ctx)
}

func (a *App) openRedis(ctx context.Context) (err error) {
	a.redis = a.opts.Redis
	if a.redis == nil {
		if a.redis, err = redisclient.Open(a.cfg.RedisURL.Reveal(), a.cfg.RedisTLS); err != nil {
			return err
		}
		redisclient.Measure(a.metrics, service, a.redis)
		redisclient.Trace(a.tracing, a.redis)
	}
	if a.store, err = store.New(a.redis, a.cfg.rules()); err != nil {
		return errors.Join(err, a.closeRedis(ctx))
	}
	a.ready.Watch("redis", a.store.Ping)
	return nil
}

func (a *App) closeRedis(context.Context) error {
	if a.opts.Redis != nil {
		return nil
	}
	if err := a.redis.Close(); err != nil {
		return fmt.Errorf("close redis: %w", err)
	}
	return nil
}

func (a *App) openBus(context.Context) (err error) {
	a.nats, a.closeNATS = a.opts.NATS, func() {}
	if a.nats == nil {
		denied := &bus.Denied{}
		a.nats, a.closeNATS, err = watch.Connect(bus.Options{
			URL: a.cfg.NATSURL.Reveal(), Name: a.cfg.PodName, Service: access.NodeRegistry, CredsFile: a.cfg.NATSCreds,
			TLS: a.cfg.NATSTLS, Logger: a.log,
		}, denied)
		denied.Measure(a.metrics, service)
		if err != nil {
			return err
		}
	}
	if a.feed, err = watch.NewFeed(a.nats, a.log, a.metrics); err != nil {
		a.closeNATS()
		return err
	}
	bus.Measure(a.metrics, service, a.nats)
	a.ready.Watch("bus", a.feed.Up)
	return nil
}

func (a *App) closeBus(ctx context.Context) error {
	defer a.closeNATS()
	return a.feed.Flush(ctx)
}

func (a *App) makeSweeper(context.Context) (err error) {
	a.sweeper, err = lease.NewSweeper(lease.SweeperOptions{
		Expiries: a.store, Announcer: a.feed, Every: a.cfg.SweepEvery, Logger: a.log, Metrics: a.metrics,
	})
	if err != nil {
		return err
	}
	a.listener, err = lease.NewListener(lease.ListenerOptions{
		Silences: a.store, Announcer: a.feed, Logger: a.log, Metrics: a.metrics,
	})
	return err
}

// begin is the moment from which the replica serves.
func (a *App) begin(context.Context) error {
	a.ready.Set("started", nil)
	close(a.started)
	a.log.Info("node-registry serves", "grpc", a.GRPCAddr(), "admin", a.AdminAddr())
	return nil
}

// drain stops new work once clients have had time to notice.
func (a *App) drain(ctx context.Context) error {
	a.ready.Drain()
	a.grpc.Drain()
	a.ready.Linger(ctx, a.cfg.DrainDelay)
	a.feed.Drain()
	return nil
}

// Started is closed once the replica serves.
func (a *App) Started() <-chan struct{} { return a.started }

// GRPCAddr is the address of NodeRegistryService, once Started is closed.
func (a *App) GRPCAddr() string { return a.grpc.Addr() }

// AdminAddr is the address of health, metrics and profiles, once Started is closed.
func (a *App) AdminAddr() string { return a.admin.Addr() }
