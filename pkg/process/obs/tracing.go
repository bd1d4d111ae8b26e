package obs

import (
	"context"
	"fmt"
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

// Validate reports a share that is none.
func (c TraceConfig) Validate() error { return checkRatio(c.Ratio) }

func checkRatio(ratio float64) error {
	if ratio >= 0 && ratio <= 1 {
		return nil
	}
	return fmt.Errorf("trace-ratio is %v, and must be 0 to 1", ratio)
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

// TracingOptions are what a [Tracing] is made of.
type TracingOptions struct {
	Pod Pod
	// Ratio is the share of the traces begun here that is sampled, 0 to 1.
	Ratio float64
	// Exporter takes the spans; nil turns tracing off.
	Exporter sdktrace.SpanExporter
	// Logger gets the errors of the exporter, which never fail a call; nil discards them.
	Logger *slog.Logger
}

// NewTracing returns a Tracing that sends its spans to the exporter, or nil where there is none.
func NewTracing(o TracingOptions) (*Tracing, error) {
	if err := checkRatio(o.Ratio); err != nil {
		return nil, err
	}
	if o.Exporter == nil {
		return nil, nil //nolint:nilnil // a nil *Tracing is one that makes no spans
	}
	pod := o.Pod
	provider := sdktrace.NewTracerProvider(
		sdktrace.WithBatcher(loggingExporter{o.Exporter, OrDiscard(o.Logger)}),
		sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.TraceIDRatioBased(o.Ratio))),
		sdktrace.WithResource(resource.NewSchemaless(
			attribute.String("service.namespace", "hecaton"),
			attribute.String("service.name", pod.Service),
			attribute.String("service.instance.id", pod.Instance),
			attribute.String("service.version", pod.Version),
		)),
	)
	return &Tracing{provider: provider, tracer: provider.Tracer("github.com/hecaton-dev/hecaton/pkg/process/obs")}, nil
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
