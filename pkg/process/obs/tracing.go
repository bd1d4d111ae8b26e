package obs

import (
	"context"
	"log/slog"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/hecaton-dev/hecaton/pkg/process/lifecycle"
)

// TraceConfig is where a service sends its spans.
type TraceConfig struct {
	Endpoint string  `conf:"otlp-endpoint" env:"OTEL_EXPORTER_OTLP_ENDPOINT" help:"OTLP/HTTP collector, such as http://localhost:4318; empty turns tracing off"`
	Ratio    float64 `conf:"trace-ratio" env:"TRACE_RATIO" default:"1" help:"share of new traces that is sampled, 0 to 1; the trace of a caller is sampled if the caller samples it"`
}

// Tracing makes the spans of one pod. A nil *Tracing makes none: its methods cost nothing.
type Tracing struct {
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
}

// Pod names who makes spans.
type Pod struct {
	Service  string // "gateway"
	Instance string // the pod's own name
	Version  string
}

// NewTracing returns a Tracing that sends its spans to exporter, or nil where exporter is nil. Of the traces that begin here
// the share ratio is sampled. Errors of the exporter are logged and never fail a call.
func NewTracing(pod Pod, ratio float64, exporter sdktrace.SpanExporter, log *slog.Logger) *Tracing {
	if exporter == nil {
		return nil
	}
	provider := sdktrace.NewTracerProvider(
		sdktrace.WithBatcher(loggingExporter{exporter, OrDiscard(log)}),
		sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.TraceIDRatioBased(ratio))),
		sdktrace.WithResource(resource.NewSchemaless(
			attribute.String("service.namespace", "hecaton"),
			attribute.String("service.name", pod.Service),
			attribute.String("service.instance.id", pod.Instance),
			attribute.String("service.version", pod.Version),
		)),
	)
	return &Tracing{provider: provider, tracer: provider.Tracer("github.com/hecaton-dev/hecaton/pkg/process/obs")}
}

// AddTo makes the sending of spans a part of g: added early, it stops late and sends what the others left.
func (t *Tracing) AddTo(g *lifecycle.Group) {
	if t != nil {
		g.Add("tracing", nil, t.Shutdown)
	}
}

// Shutdown sends the spans that are still held back.
func (t *Tracing) Shutdown(ctx context.Context) error {
	if t == nil {
		return nil
	}
	return t.provider.Shutdown(ctx)
}

var noSpan trace.Span = noop.Span{}

// Start begins a span under that of ctx. Where tracing is off it returns ctx, with the trace of the caller if there is
// one, and a span that does nothing. Attributes belong inside if span.IsRecording(): building them has a price.
func (t *Tracing) Start(ctx context.Context, kind trace.SpanKind, name string) (context.Context, trace.Span) {
	if t == nil {
		return ctx, noSpan
	}
	return t.tracer.Start(ctx, name, trace.WithSpanKind(kind))
}

// Continue begins a span under the one that a traceparent names, and returns the traceparent of what is done in it. Where
// tracing is off that is parent itself, and the span does nothing.
func (t *Tracing) Continue(parent string, kind trace.SpanKind, name string) (traceparent string, span trace.Span) {
	if t == nil {
		return parent, noSpan
	}
	ctx, span := t.Start(WithTraceparent(context.Background(), parent), kind, name)
	return Traceparent(ctx), span
}

// loggingExporter reports failures to the pod's logger. The SDK would report them to a global handler, which knows
// neither the pod nor its log format.
type loggingExporter struct {
	sdktrace.SpanExporter
	log *slog.Logger
}

func (e loggingExporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	if err := e.SpanExporter.ExportSpans(ctx, spans); err != nil {
		e.log.WarnContext(ctx, "spans were lost", "spans", len(spans), "error", err)
	}
	return nil
}
