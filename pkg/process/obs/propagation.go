package obs

import (
	"context"
	"net/http"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc/metadata"
)

// The fields of W3C Trace Context.
const (
	traceparent = "traceparent"
	tracestate  = "tracestate"
)

// Injecting and extracting stop at once where there is nothing to carry: that is the common case, and must cost nothing.

var w3c propagation.TraceContext

// InjectHTTP writes the trace of ctx to the headers of a request.
func InjectHTTP(ctx context.Context, h http.Header) {
	if Traced(ctx) {
		w3c.Inject(ctx, propagation.HeaderCarrier(h))
	}
}

// ExtractHTTP returns ctx with the trace that the headers of a request name, or ctx itself.
func ExtractHTTP(ctx context.Context, h http.Header) context.Context {
	if len(h["Traceparent"]) == 0 { // h.Get would allocate the canonical name first
		return ctx
	}
	return w3c.Extract(ctx, propagation.HeaderCarrier(h))
}

// InjectNATS writes the trace of ctx to the headers of a NATS message, which must not be nil where ctx has a trace: ask
// [Traced] first. A nats.Header can be passed as it is.
func InjectNATS(ctx context.Context, h map[string][]string) {
	if Traced(ctx) {
		w3c.Inject(ctx, headers(h))
	}
}

// ExtractNATS returns ctx with the trace that the headers of a NATS message name, or ctx itself.
func ExtractNATS(ctx context.Context, h map[string][]string) context.Context {
	if len(h[traceparent]) == 0 {
		return ctx
	}
	return w3c.Extract(ctx, headers(h))
}

// InjectGRPC returns ctx with its trace in the metadata of an outgoing call.
func InjectGRPC(ctx context.Context) context.Context {
	if !Traced(ctx) {
		return ctx
	}
	var c single
	w3c.Inject(ctx, &c)
	if c.state == "" {
		return metadata.AppendToOutgoingContext(ctx, traceparent, c.parent)
	}
	return metadata.AppendToOutgoingContext(ctx, traceparent, c.parent, tracestate, c.state)
}

// ExtractGRPC returns the context of an incoming call with the trace that its metadata names, or ctx itself.
func ExtractGRPC(ctx context.Context) context.Context {
	parent := metadata.ValueFromIncomingContext(ctx, traceparent)
	if len(parent) == 0 {
		return ctx
	}
	c := single{parent: parent[0]}
	if state := metadata.ValueFromIncomingContext(ctx, tracestate); len(state) > 0 {
		c.state = state[0]
	}
	return w3c.Extract(ctx, &c)
}

// Traced reports whether ctx is part of a trace that [Traceparent] and the Inject functions would pass on.
func Traced(ctx context.Context) bool { return trace.SpanContextFromContext(ctx).IsValid() }

// Traceparent returns the trace of ctx as one string, as in params._meta.traceparent of a tools/call; "" where there is
// none.
func Traceparent(ctx context.Context) string {
	if !Traced(ctx) {
		return ""
	}
	var c single
	w3c.Inject(ctx, &c)
	return c.parent
}

// WithTraceparent is the inverse of [Traceparent]. What is not a traceparent leaves ctx as it is.
func WithTraceparent(ctx context.Context, parent string) context.Context {
	if parent == "" {
		return ctx
	}
	return w3c.Extract(ctx, &single{parent: parent})
}

// headers are NATS headers: like HTTP's, but their names are not canonicalised.
type headers map[string][]string

func (h headers) Get(key string) string {
	if values := h[key]; len(values) > 0 {
		return values[0]
	}
	return ""
}

func (h headers) Set(key, value string) { h[key] = []string{value} }

func (h headers) Keys() []string {
	keys := make([]string, 0, len(h))
	for key := range h {
		keys = append(keys, key)
	}
	return keys
}

// single carries one trace in two strings.
type single struct{ parent, state string }

func (c *single) Get(key string) string {
	switch key {
	case traceparent:
		return c.parent
	case tracestate:
		return c.state
	default:
		return ""
	}
}

func (c *single) Set(key, value string) {
	switch key {
	case traceparent:
		c.parent = value
	case tracestate:
		c.state = value
	}
}

func (c *single) Keys() []string { return []string{traceparent, tracestate} }
