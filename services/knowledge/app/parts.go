package app

import (
	"context"

	"google.golang.org/grpc"

	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/pkg/security/access"
	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
	"github.com/hecaton-dev/hecaton/pkg/transport/rpc"
	knowledgev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/knowledge/v1"
	"github.com/hecaton-dev/hecaton/services/knowledge/internal/announce"
	"github.com/hecaton-dev/hecaton/services/knowledge/internal/grpcapi"
	"github.com/hecaton-dev/hecaton/services/knowledge/internal/jobs"
	"github.com/hecaton-dev/hecaton/services/knowledge/internal/parse"
	"github.com/hecaton-dev/hecaton/services/knowledge/internal/search"
	"github.com/hecaton-dev/hecaton/services/knowledge/internal/store"
)

func (a *App) openStore(ctx context.Context) (err error) {
	quota := store.Quota{Bases: a.cfg.Limits.Bases, Documents: a.cfg.Limits.Documents, Bytes: int64(a.cfg.Limits.Bytes)}
	if a.store, err = store.Open(ctx, store.Options{URL: a.cfg.DatabaseURL, Quota: quota, Logger: a.log}); err != nil {
		return err
	}
	a.ready.Watch("store", a.store.Check)
	return nil
}

func (a *App) closeStore(context.Context) error { return a.store.Close() }

func (a *App) openBus(ctx context.Context) (err error) {
	if a.cfg.NATSURL == "" {
		return nil
	}
	a.bus, err = bus.Connect(ctx, bus.Options{
		URL: a.cfg.NATSURL.Reveal(), Name: service + " " + a.cfg.PodName, Service: access.Knowledge, CredsFile: a.cfg.NATSCreds,
		TLS: a.cfg.NATSTLS, Logger: a.log,
	})
	if err != nil {
		return err
	}
	a.bus.Measure(a.metrics, service)
	return nil
}

func (a *App) closeBus(context.Context) error {
	if a.bus != nil {
		a.bus.Close()
	}
	return nil
}

func (a *App) makeParts(context.Context) (err error) {
	a.announcer = announce.New(a.bus, a.log)
	if a.searcher, err = search.New(search.Options{Index: a.store, Embedder: a.embedder, Logger: a.log}); err != nil {
		return err
	}
	reader, err := parse.New(parse.Options{
		Bounds: parse.Bounds{Time: a.cfg.ParseTime, Memory: int64(a.cfg.ParseMemory)}, TikaURL: a.cfg.TikaURL,
	})
	if err != nil {
		return err
	}
	a.pool, err = jobs.New(jobs.Options{
		Store: a.store, Reader: reader, Embedder: a.embedder, Announcer: a.announcer, Workers: a.cfg.Workers, Claim: a.cfg.ClaimTTL,
		Patience: a.cfg.Embeddings.Patience, Logger: a.log, Metrics: a.metrics,
	})
	return err
}

func (a *App) closeParts(context.Context) error {
	if c, ok := a.embedder.(interface{ Close() }); ok {
		c.Close()
	}
	return nil
}

func (a *App) listen(ctx context.Context) (_ *rpc.Server, err error) {
	authentication, err := a.cfg.Services.ServerOptions()
	if err != nil {
		return nil, err
	}
	api, err := grpcapi.New(grpcapi.Options{
		Store: a.store, Searcher: a.searcher, Announce: a.announcer.Document, Wake: a.pool.Wake, MaxFile: int64(a.cfg.MaxFile),
	})
	if err != nil {
		return nil, err
	}
	opts := append(a.tracing.InnerServerOptions(), obs.MeasureServer(a.metrics, "hecaton_knowledge_rpc_duration_seconds",
		"Duration of unary calls that this pod answered, by method and status code."))
	opts = append(opts, authentication...)
	opts = append(opts, grpcapi.ServerOptions(a.log)...)
	register := func(s *grpc.Server) { knowledgev1.RegisterKnowledgeServiceServer(s, api) }
	if a.listener != nil {
		a.grpc, err = rpc.On(a.listener, register, opts...)
		return a.grpc, err
	}
	a.grpc, err = rpc.Listen(ctx, a.cfg.GRPCAddr, register, opts...)
	return a.grpc, err
}
