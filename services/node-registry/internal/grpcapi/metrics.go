package grpcapi

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"
	"google.golang.org/grpc/status"
)

// Measure has the time and outcome of every unary call counted in reg. Streams last as long as their clients like.
func Measure(reg prometheus.Registerer) grpc.ServerOption {
	seconds := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "hecaton_registry_rpc_seconds",
		Help:    "Time to answer a call, by method and status code.",
		Buckets: prometheus.ExponentialBuckets(0.0005, 2, 14), // 0.5 ms to 4 s
	}, []string{"method", "code"})
	reg.MustRegister(seconds)
	return grpc.ChainUnaryInterceptor(func(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
		start := time.Now()
		res, err := next(ctx, req)
		seconds.WithLabelValues(info.FullMethod, status.Code(err).String()).Observe(time.Since(start).Seconds())
		return res, err
	})
}
