package app

import (
	"context"
	"errors"
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/reflection"

	"github.com/hecaton-dev/hecaton/services/gateway/internal/toolapi"
)

// reconnect finds a registry again within a second or two of its return.
var reconnect = grpc.ConnectParams{
	Backoff:           backoff.Config{BaseDelay: 50 * time.Millisecond, Multiplier: 1.6, Jitter: 0.3, MaxDelay: time.Second},
	MinConnectTimeout: 2 * time.Second,
}

const (
	// window lets a few large answers be on their way on one stream, where gRPC starts with 64 KiB.
	window     = 1 << 20
	connWindow = 8 << 20
	// headroom is what a message has beyond the frame in it.
	headroom = 64 << 10
	// oversize is how many times the largest frame a request may have: gRPC refuses more without a reason, and ends a whole
	// stream of calls for it.
	oversize = 4
)

func (a *App) listenGRPC(ctx context.Context) error {
	opts, err := a.cfg.Services.ServerOptions()
	if err != nil {
		return err
	}
	opts = append(opts, a.tracing.ServerOptions()...)
	opts = append(opts,
		grpc.ForceServerCodecV2(toolapi.NewCodec()),
		grpc.InitialWindowSize(window), grpc.InitialConnWindowSize(connWindow),
		grpc.MaxRecvMsgSize(oversize*int(a.cfg.MaxFrame)), grpc.MaxSendMsgSize(int(a.cfg.MaxReply)+headroom),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 5 * time.Second, PermitWithoutStream: true}),
	)
	a.grpc = grpc.NewServer(opts...)
	a.tools = &toolapi.Service{
		Router: a.router, Presence: a.presence, Fanout: a.fanout, Workflows: a.workflows, Draining: a.draining,
	}
	a.grpc.RegisterService(toolapi.Description(), a.tools)
	a.health = health.NewServer()
	healthv1.RegisterHealthServer(a.grpc, a.health)
	reflection.Register(a.grpc)
	a.grpcLn, err = new(net.ListenConfig).Listen(ctx, "tcp", a.cfg.GRPCAddr)
	return err
}

func (a *App) serveGRPC(context.Context) error {
	if err := a.grpc.Serve(a.grpcLn); !errors.Is(err, grpc.ErrServerStopped) { // it may be stopped before it serves
		return err
	}
	return nil
}

// stopGRPC lets calls finish, until ctx ends.
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
	a.tools.Wait()
	return nil
}
