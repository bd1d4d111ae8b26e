package toolclient

import (
	"context"
	"errors"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
)

// callsMethod is the method as spans name it.
var callsMethod = strings.TrimPrefix(toolv1.ToolService_Calls_FullMethodName, "/")

// noSpan does nothing.
var noSpan = trace.SpanFromContext(context.Background())

// attempt begins the span of one try of a call: calls share a stream, which tells nothing of them. What the gateway does is
// under it.
func (c *Client) attempt(ctx context.Context, call *toolv1.Call) (context.Context, trace.Span) {
	if c.tracing == nil {
		return ctx, noSpan
	}
	if parent := call.GetTraceparent(); parent != "" {
		ctx = obs.WithTraceparent(ctx, parent)
	}
	return c.tracing.Start(ctx, trace.SpanKindClient, callsMethod)
}

// attempted ends it.
func attempted(span trace.Span, gateway string, err error) {
	defer span.End()
	if !span.IsRecording() {
		return
	}
	span.SetAttributes(attribute.String("rpc.system", "grpc"),
		attribute.String("rpc.service", toolv1.ToolService_ServiceDesc.ServiceName), attribute.String("rpc.method", "Calls"),
		attribute.String("server.address", gateway))
	var own *errs.Error
	switch {
	case err == nil:
		obs.Outcome(span, nil)
	case errors.As(err, &own):
		obs.Outcome(span, own)
	default:
		span.SetStatus(codes.Error, "not sent, or not understood")
	}
}
