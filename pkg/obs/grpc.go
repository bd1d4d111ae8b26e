package obs

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc"
	grpccodes "google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// gRPC is traced by interceptors rather than a stats handler: with a stats handler, grpc-go builds two values for every
// message of a stream, also where nobody looks at them, and one of our streams carries every call between two pods.

// ServerOptions continue the traces of incoming calls. A stream is one span as long as it lives; calls that share one
// carry a traceparent each.
func (t *Tracing) ServerOptions() []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.ChainUnaryInterceptor(t.serveUnary),
		grpc.ChainStreamInterceptor(t.serveStream),
	}
}

// DialOptions pass the trace of each call's context on to the server.
func (t *Tracing) DialOptions() []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithChainUnaryInterceptor(t.callUnary),
		grpc.WithChainStreamInterceptor(t.callStream),
	}
}

func (t *Tracing) serveUnary(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	ctx, span := t.Start(ExtractGRPC(ctx), trace.SpanKindServer, info.FullMethod)
	defer span.End()
	res, err := next(ctx, req)
	record(span, err)
	return res, err
}

func (t *Tracing) serveStream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
	ctx, span := t.Start(ExtractGRPC(stream.Context()), trace.SpanKindServer, info.FullMethod)
	defer span.End()
	if ctx != stream.Context() {
		stream = tracedStream{stream, ctx}
	}
	err := next(srv, stream)
	record(span, err)
	return err
}

func (t *Tracing) callUnary(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, next grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	ctx, span := t.Start(ctx, trace.SpanKindClient, method)
	defer span.End()
	err := next(InjectGRPC(ctx), method, req, reply, conn, opts...)
	record(span, err)
	return err
}

// callStream makes no span of its own: the stream outlives this call, and its end is seen by the server's span.
func (t *Tracing) callStream(ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string, next grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	return next(InjectGRPC(ctx), desc, conn, method, opts...)
}

// record notes how a call ended. The caller's own cancellation is no error of the callee.
func record(span trace.Span, err error) {
	if !span.IsRecording() {
		return
	}
	code := status.Code(err)
	span.SetAttributes(attribute.Int("rpc.grpc.status_code", int(code)))
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
