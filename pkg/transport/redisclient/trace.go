package redisclient

import (
	"context"
	"net"

	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/hecaton-dev/hecaton/pkg/process/obs"
)

// Trace has a span made of each round trip that is done for something that is traced; what a pod does by itself begins no trace. Keys and values
// are their users', and are in none. Where tracing is nil, nothing is added to the client.
func Trace(tracing *obs.Tracing, client redis.UniversalClient) {
	if tracing != nil {
		client.AddHook(tracer{tracing})
	}
}

// tracer is a hook of the client.
type tracer struct{ tracing *obs.Tracing }

// DialHook implements [redis.Hook]: a dial is part of the command that needed it.
func (t tracer) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

// ProcessHook implements [redis.Hook].
func (t tracer) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		return t.do(ctx, cmd, cmd.Name(), 1, func(ctx context.Context) error { return next(ctx, cmd) })
	}
}

// ProcessPipelineHook implements [redis.Hook].
func (t tracer) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		return t.do(ctx, cmds[0], pipeline, len(cmds), func(ctx context.Context) error { return next(ctx, cmds) })
	}
}

func (t tracer) do(ctx context.Context, first redis.Cmder, name string, commands int, do func(context.Context) error) error {
	if greets(first) || !trace.SpanContextFromContext(ctx).IsValid() {
		return do(ctx)
	}
	ctx, span := t.tracing.Start(ctx, trace.SpanKindClient, "redis "+name)
	defer span.End()
	if span.IsRecording() {
		span.SetAttributes(
			attribute.String("db.system.name", "redis"),
			attribute.String("db.operation.name", name),
			attribute.Int("db.operation.batch.size", commands),
		)
	}
	err := do(ctx)
	if failed(err) {
		span.SetStatus(codes.Error, "Redis did not answer, or refused") // an error's text may have a key
	}
	return err
}
