package app

import (
	"context"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"
)

// firstAgent is how long after its start a gateway lets requests wait for the first orchestrator before it refuses them: in one
// process the gateways start first, and in a cluster the order is not fixed.
const firstAgent = 5 * time.Second

// patience holds calls back until a connection has been there once.
type patience struct {
	ends time.Time // static after construction
	met  atomic.Bool
}

func (p *patience) dialOptions() []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithChainUnaryInterceptor(func(
			ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption,
		) error {
			p.wait(ctx, conn)
			return invoke(ctx, method, req, reply, conn, opts...)
		}),
		grpc.WithChainStreamInterceptor(func(
			ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string, stream grpc.Streamer, opts ...grpc.CallOption,
		) (grpc.ClientStream, error) {
			p.wait(ctx, conn)
			return stream(ctx, desc, conn, method, opts...)
		}),
	}
}

// wait returns once conn has been ready, or when the patience or ctx has ended: the call itself then reports the error.
func (p *patience) wait(ctx context.Context, conn *grpc.ClientConn) {
	if p.met.Load() {
		return
	}
	ctx, cancel := context.WithDeadline(ctx, p.ends)
	defer cancel()
	for {
		state := conn.GetState()
		if state == connectivity.Ready {
			p.met.Store(true)
			return
		}
		conn.Connect()
		if !conn.WaitForStateChange(ctx, state) {
			return
		}
	}
}
