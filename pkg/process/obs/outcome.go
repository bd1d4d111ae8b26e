package obs

import (
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/hecaton-dev/hecaton/pkg/errs"
)

// Outcome notes how a call ended: answered, where err is nil, else its class and reason. The error's text, which may name
// what the user named, stays out of the span.
func Outcome(span trace.Span, err *errs.Error) {
	if err == nil {
		span.SetAttributes(attribute.String("hecaton.call.outcome", "answered"))
		return
	}
	span.SetAttributes(
		attribute.String("hecaton.call.outcome", string(err.Reason.Class())),
		attribute.String("error.type", string(err.Reason)),
	)
	span.SetStatus(codes.Error, string(err.Reason))
}
