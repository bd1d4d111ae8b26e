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

	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
)

// info implements AgentService.
type info struct {
	agentv1.UnimplementedAgentServiceServer
	version string
}

func (i info) GetInfo(context.Context, *agentv1.GetInfoRequest) (*agentv1.GetInfoResponse, error) {
	return &agentv1.GetInfoResponse{Version: i.version}, nil
}

func (a *App) listen(ctx context.Context) error {
	strangers, err := a.cfg.Services.ServerOptions()
	if err != nil {
		return err
	}
	opts := append(a.tracing.ServerOptions(), strangers...)
	opts = append(opts,
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 5 * time.Second, PermitWithoutStream: true}))
	a.grpc, a.health = grpc.NewServer(opts...), health.NewServer()
	agentv1.RegisterAgentServiceServer(a.grpc, info{version: a.version})
	healthv1.RegisterHealthServer(a.grpc, a.health)
	a.health.SetServingStatus(agentv1.AgentService_ServiceDesc.ServiceName, healthv1.HealthCheckResponse_SERVING)
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
	// A pod that is stopped the moment it starts has stopped its server before it serves.
	if err := a.grpc.Serve(a.listener); !errors.Is(err, grpc.ErrServerStopped) {
		return err
	}
	return nil
}

// stopGRPC lets requests finish until ctx ends.
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
	return nil
}
