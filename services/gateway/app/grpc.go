package app

import (
	"context"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	"github.com/hecaton-dev/hecaton/pkg/transport/rpc"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/toolapi"
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
	// headroom is the size of a message beyond the frame in it.
	headroom = 64 << 10
	// streamWorkers are goroutines that serve one call after another, so that only their first ones grow the stack; where all
	// of them are busy, a call has a goroutine of its own.
	streamWorkers = 256
	// oversize is how many times larger than the largest frame a request may be. gRPC refuses larger ones without a reason, and
	// ends a whole stream of calls for one of them, so the bound that callers see is checked later.
	oversize = 4
)

func (a *App) listenGRPC(ctx context.Context) (_ *rpc.Server, err error) {
	opts, err := a.cfg.Services.ServerOptions()
	if err != nil {
		return nil, err
	}
	opts = append(opts, a.tracing.ServerOptions()...)
	opts = append(opts,
		grpc.ChainUnaryInterceptor(toolapi.Limited(a.limits)),
		grpc.ForceServerCodecV2(toolapi.NewCodec()),
		grpc.NumStreamWorkers(streamWorkers),
		grpc.InitialWindowSize(window), grpc.InitialConnWindowSize(connWindow),
		grpc.MaxRecvMsgSize(oversize*int(a.cfg.MaxFrame)), grpc.MaxSendMsgSize(int(a.cfg.MaxReply)+headroom),
	)
	a.tools = &toolapi.Service{
		Router: a.router, Presence: a.presence, Tools: a.defs, Fanout: a.fanout, Workflows: a.workflows(), Tracing: a.tracing, Draining: a.draining,
		Limits: a.limits,
	}
	unknown, err := a.unknownLimit("grpc")
	if err != nil {
		return nil, err
	}
	a.grpc, err = rpc.ListenLimited(ctx, a.cfg.GRPCAddr, unknown, func(s *grpc.Server) {
		s.RegisterService(toolapi.Description(), a.tools)
	}, opts...)
	return a.grpc, err
}
