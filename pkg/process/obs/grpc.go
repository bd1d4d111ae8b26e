package obs

import (
	"context"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc"
	grpccodes "google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// gRPC is traced by interceptors rather than a stats handler: with a stats handler, grpc-go builds two values for every
// message of a stream, also where nobody looks at them, and one of our streams carries every call between two pods.

// ServerOptions continue the traces of incoming calls, and begin one for a call that brings none. A stream is one span as
// long as it lives; calls that share one carry a traceparent each.
func (t *Tracing) ServerOptions() []grpc.ServerOption { return t.serverOptions(true) }

// InnerServerOptions are [Tracing.ServerOptions] that begin no trace, for services that only our own services call. What
// comes without a trace there is heartbeats and the like, which need no trace each.
func (t *Tracing) InnerServerOptions() []grpc.ServerOption { return t.serverOptions(false) }

func (t *Tracing) serverOptions(begin bool) []grpc.ServerOption {
	s := server{t, begin}
	return []grpc.ServerOption{grpc.ChainUnaryInterceptor(s.unary), grpc.ChainStreamInterceptor(s.stream)}
}

// DialOptions pass the trace of each call's context on to the server. A call without one begins none.
func (t *Tracing) DialOptions() []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithChainUnaryInterceptor(t.callUnary),
		grpc.WithChainStreamInterceptor(t.callStream),
	}
}

// server is the side that is called.
type server struct {
	*Tracing
	begin bool // a trace where none comes
}

func (s server) start(ctx context.Context, method string) (context.Context, trace.Span) {
	ctx = ExtractGRPC(ctx)
	if s.Tracing == nil || !s.begin && !Traced(ctx) {
		return ctx, noSpan
	}
	return s.Start(ctx, trace.SpanKindServer, methodName(method))
}

func (s server) unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	ctx, span := s.start(ctx, info.FullMethod)
	defer span.End()
	res, err := next(ctx, req)
	record(span, info.FullMethod, err)
	return res, err
}

func (s server) stream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
	ctx, span := s.start(stream.Context(), info.FullMethod)
	defer span.End()
	if ctx != stream.Context() {
		stream = tracedStream{stream, ctx}
	}
	err := next(srv, stream)
	record(span, info.FullMethod, err)
	return err
}

func (t *Tracing) callUnary(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, next grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	if t == nil || !Traced(ctx) {
		return next(InjectGRPC(ctx), method, req, reply, conn, opts...)
	}
	ctx, span := t.Start(ctx, trace.SpanKindClient, methodName(method))
	defer span.End()
	err := next(InjectGRPC(ctx), method, req, reply, conn, opts...)
	record(span, method, err)
	return err
}

// callStream makes no span of its own: the stream outlives this call, and its end is seen by the server's span.
func (t *Tracing) callStream(ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string, next grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	return next(InjectGRPC(ctx), desc, conn, method, opts...)
}

// record notes how a call ended. The caller's own cancellation is no error of the callee.
func record(span trace.Span, method string, err error) {
	if !span.IsRecording() {
		return
	}
	code := status.Code(err)
	service, name, _ := strings.Cut(methodName(method), "/")
	span.SetAttributes(
		attribute.String("rpc.system", "grpc"), attribute.String("rpc.service", service), attribute.String("rpc.method", name),
		attribute.Int("rpc.grpc.status_code", int(code)),
	)
	if code != grpccodes.OK && code != grpccodes.Canceled {
		span.SetStatus(codes.Error, code.String())
	}
}

// tracedStream is a stream whose context holds the trace.
type tracedStream struct {
	grpc.ServerStream
	ctx context.Context
}

func (s tracedStream) Context() context.Context { return s.ctx }
