package app

import (
	"context"

	"google.golang.org/grpc"

	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/pkg/transport/rpc"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/node-registry/internal/binding"
	"github.com/hecaton-dev/hecaton/services/node-registry/internal/grpcapi"
	"github.com/hecaton-dev/hecaton/services/node-registry/internal/lease"
	"github.com/hecaton-dev/hecaton/services/node-registry/internal/stats"
)

// maxRequest fits a batch of ten thousand heartbeats whose ids are as long as may be.
const maxRequest = 32 << 20

func (a *App) listen(ctx context.Context) (_ *rpc.Server, err error) {
	authentication, err := a.cfg.Services.ServerOptions()
	if err != nil {
		return nil, err
	}
	opts := append(a.tracing.InnerServerOptions(), obs.MeasureServer(a.metrics,
		"hecaton_registry_rpc_duration_seconds", "Duration of calls that this replica answered, by method and status code."))
	opts = append(opts, authentication...)
	opts = append(opts, grpcapi.ServerOptions(a.log)...)
	opts = append(opts, grpc.MaxRecvMsgSize(maxRequest))
	totals := stats.NewTotals(a.store)
	totals.Measure(a.metrics)
	a.api, err = grpcapi.New(grpcapi.Options{
		Keeper:   lease.NewKeeper(a.store, a.feed, a.metrics),
		Lister:   a.store,
		Resolver: binding.NewResolver(a.store),
		Watcher:  a.feed,
		Reporter: a.store,
		Sharer:   a.store,
		Totals:   totals,
		Logger:   a.log,
	})
	if err != nil {
		return nil, err
	}
	a.grpc, err = rpc.Listen(ctx, a.cfg.GRPCAddr, func(s *grpc.Server) {
		nodev1.RegisterNodeRegistryServiceServer(s, a.api)
	}, opts...)
	return a.grpc, err
}
