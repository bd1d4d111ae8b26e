package obs

import (
	"context"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc"
	"google.golang.org/grpc/status"
)

// Observe adds value to a histogram. Where ctx is in a span that is recorded, the span's trace is the value's exemplar:
// the way from a slow bucket to a call that was slow.
func Observe(ctx context.Context, histogram prometheus.Observer, value float64) {
	ObserveIn(trace.SpanFromContext(ctx), histogram, value)
}

// ObserveIn is [Observe] with the span itself.
func ObserveIn(span trace.Span, histogram prometheus.Observer, value float64) {
	if span.IsRecording() {
		if h, ok := histogram.(prometheus.ExemplarObserver); ok {
			h.ObserveWithExemplar(value, prometheus.Labels{"trace_id": span.SpanContext().TraceID().String()})
			return
		}
	}
	histogram.Observe(value)
}

// MeasureServer has the unary calls that a gRPC server answers measured in a histogram of that name, by method and code.
// Streams last as long as their clients like. It belongs behind [Tracing.ServerOptions].
func MeasureServer(reg prometheus.Registerer, name, help string) grpc.ServerOption {
	seconds := rpcSeconds(reg, name, help)
	return grpc.ChainUnaryInterceptor(func(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
		began := time.Now()
		res, err := next(ctx, req)
		Observe(ctx, seconds.WithLabelValues(methodName(info.FullMethod), status.Code(err).String()), time.Since(began).Seconds())
		return res, err
	})
}

// MeasureClient is [MeasureServer] for the calls that a client makes; it belongs behind [Tracing.DialOptions].
func MeasureClient(reg prometheus.Registerer, name, help string) grpc.DialOption {
	seconds := rpcSeconds(reg, name, help)
	return grpc.WithChainUnaryInterceptor(func(
		ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, next grpc.UnaryInvoker, opts ...grpc.CallOption,
	) error {
		began := time.Now()
		err := next(ctx, method, req, reply, conn, opts...)
		Observe(ctx, seconds.WithLabelValues(methodName(method), status.Code(err).String()), time.Since(began).Seconds())
		return err
	})
}

func rpcSeconds(reg prometheus.Registerer, name, help string) *prometheus.HistogramVec {
	seconds := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: name, Help: help, Buckets: prometheus.ExponentialBuckets(0.0005, 2, 14), // 0.5 ms to 4 s
	}, []string{"method", "code"})
	reg.MustRegister(seconds)
	return seconds
}

// methodName is a gRPC method as spans and labels name it: package.Service/Method.
func methodName(full string) string { return strings.TrimPrefix(full, "/") }
