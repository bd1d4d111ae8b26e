package mcp

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/catalogue"
)

// Operation is one request that has been answered, in the attributes of OpenTelemetry's conventions for MCP servers.
type Operation struct {
	// Method is mcp.method.name; "_OTHER" for one that there is not.
	Method string
	// Version is mcp.protocol.version.
	Version string
	// Error is error.type: a JSON-RPC code, or the reason why a device did not answer; empty for none. What a device itself calls an
	// error passes unread.
	Error string
	Took  time.Duration
}

// otherMethod stands for every method that there is not: clients choose names without end.
const otherMethod = "_OTHER"

// measure tells of the end of a request. How long a client listens is its own affair.
func (q *query) measure(began time.Time) {
	if q.api.Ended == nil || q.msg.Method == "subscriptions/listen" && q.problem == "" {
		return
	}
	o := Operation{Method: q.msg.Method, Version: q.version, Error: q.problem, Took: time.Since(began)}
	o.Method = q.method()
	q.api.Ended(o)
}

// initializes is the method that begins a session, which is answered before there is one.
const initializes = "initialize"

// method is the name of the request's method, where there is such a one.
func (q *query) method() string {
	if _, ok := q.api.methods[q.msg.Method]; !ok && q.msg.Method != initializes {
		return otherMethod
	}
	return q.msg.Method
}

// span begins the request's span, under the trace of its message, else of its HTTP request. What is done for the request is below it; end
// ends it.
func (q *query) span(ctx context.Context) (_ context.Context, end func()) {
	if t := q.msg.Meta.Traceparent; t != "" {
		ctx = obs.WithTraceparent(ctx, t)
	}
	if q.msg.Method == "subscriptions/listen" { // as long as its client likes
		q.trace = obs.Traceparent(ctx)
		return ctx, func() {}
	}
	ctx, span := q.api.Tracing.Start(ctx, trace.SpanKindServer, q.method())
	q.trace = obs.Traceparent(ctx)
	if !span.IsRecording() {
		return ctx, func() { span.End() }
	}
	span.SetAttributes(attribute.String("mcp.method.name", q.method()), attribute.String("mcp.protocol.version", q.version))
	// Which tool it is, the call's own span says: the names of this request may have a device's in them.
	return ctx, func() {
		if q.problem != "" {
			span.SetAttributes(attribute.String("error.type", q.problem))
			span.SetStatus(codes.Error, q.problem)
		}
		span.End()
	}
}

// unanswered answers a call that its device did not answer.
func (q *query) unanswered(err error) {
	var reasoned *errs.Error
	var unanswered *catalogue.Unanswered
	q.problem = "_OTHER"
	switch {
	case errors.As(err, &reasoned):
		q.problem = string(reasoned.Reason)
	case errors.As(err, &unanswered) && unanswered.Reason != "":
		q.problem = unanswered.Reason
	}
	q.result(failure(err))
}
