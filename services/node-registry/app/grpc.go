package app

import (
	"context"
	"errors"
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/reflection"

	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/node-registry/internal/binding"
	"github.com/hecaton-dev/hecaton/services/node-registry/internal/grpcapi"
	"github.com/hecaton-dev/hecaton/services/node-registry/internal/lease"
	"github.com/hecaton-dev/hecaton/services/node-registry/internal/stats"
)

// maxRequest fits a batch of ten thousand heartbeats whose ids are as long as may be.
const maxRequest = 32 << 20

func (a *App) listen(ctx context.Context) error {
	strangers, err := a.cfg.Services.ServerOptions()
	if err != nil {
		return err
	}
	opts := append(a.tracing.ServerOptions(), grpcapi.Measure(a.metrics))
	opts = append(opts, strangers...)
	opts = append(opts, grpcapi.ServerOptions(a.log)...)
	opts = append(opts,
		grpc.MaxRecvMsgSize(maxRequest),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 5 * time.Second, PermitWithoutStream: true}),
	)
	a.api = grpcapi.NewServer(grpcapi.Parts{
		Keeper:   lease.NewKeeper(a.store, a.feed, a.metrics),
		Lister:   a.store,
		Resolver: binding.NewResolver(a.store),
		Watcher:  a.feed,
		Reporter: a.store,
		Totals:   stats.NewTotals(a.store),
	}, a.log)
	a.grpc, a.health = grpc.NewServer(opts...), health.NewServer()
	nodev1.RegisterNodeRegistryServiceServer(a.grpc, a.api)
	healthv1.RegisterHealthServer(a.grpc, a.health)
	a.health.SetServingStatus(nodev1.NodeRegistryService_ServiceDesc.ServiceName, healthv1.HealthCheckResponse_SERVING)
	reflection.Register(a.grpc)
	a.listener, err = new(net.ListenConfig).Listen(ctx, "tcp", a.cfg.GRPCAddr)
	return err
}

// closeListener is harmless where the server has closed it already.
func (a *App) closeListener(context.Context) error {
	if err := a.listener.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

func (a *App) serveGRPC(context.Context) error {
	if err := a.grpc.Serve(a.listener); !errors.Is(err, grpc.ErrServerStopped) { // it may be stopped before it serves
		return err
	}
	return nil
}

// stopGRPC lets requests finish until ctx ends, and waits for what they left behind.
func (a *App) stopGRPC(ctx context.Context) error {
	done := make(chan struct{})
	go func() {
		defer close(done)
		a.grpc.GracefulStop()
	}()
	select {
	case <-done:
	case <-ctx.Done():
		a.grpc.Stop()
		<-done
	}
	a.api.Wait()
	return nil
}
