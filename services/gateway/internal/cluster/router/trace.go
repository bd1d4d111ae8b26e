package router

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/envelope"
)

// A call that is traced is one span here, from when its node is known to its end, and, where it goes over the bus, a span
// of its publication. Their attributes follow OpenTelemetry's conventions for messaging and for tools; a node's id is none
// of them, since it may have its user's in it.

// open begins the span of a call. What its holder does is under it. tool is empty for a relayed call.
func (p *Pending) open(env *envelope.Call, name, tool string) {
	env.Traceparent, p.span = p.r.Tracing.Continue(env.Traceparent, trace.SpanKindInternal, name)
	p.traceparent = env.Traceparent
	if !p.span.IsRecording() {
		return
	}
	p.span.SetAttributes(attribute.String("hecaton.call.id", string(env.ID)))
	if tool != "" {
		p.span.SetAttributes(attribute.String("gen_ai.tool.name", tool))
	}
}

// close ends the span of a call.
func (p *Pending) close(err *errs.Error) {
	if p.span.IsRecording() {
		obs.Outcome(p.span, err)
	}
	p.span.End()
}

// published notes a publication on the bus; what the holder does is under it.
func (p *Pending) published(env *envelope.Call, size int) (end func(err error)) {
	if !p.span.IsRecording() {
		return func(error) {}
	}
	var span trace.Span
	env.Traceparent, span = p.r.Tracing.Continue(env.Traceparent, trace.SpanKindProducer, "publish "+envelope.CallTemplate)
	span.SetAttributes(
		attribute.String("messaging.system", "nats"),
		attribute.String("messaging.operation.name", "publish"),
		attribute.String("messaging.operation.type", "send"),
		attribute.String("messaging.destination.template", envelope.CallTemplate),
		attribute.String("messaging.message.conversation_id", string(env.ID)),
		attribute.Int("messaging.message.body.size", size),
	)
	return func(err error) {
		if err != nil {
			span.SetStatus(codes.Error, "the bus cannot be reached")
		}
		span.End()
	}
}

// logged is a context with the call's trace, for a log line.
func (p *Pending) logged() context.Context {
	return obs.WithTraceparent(context.Background(), p.traceparent)
}
