package agent

import (
	"context"
	"errors"
	"log/slog"
	"runtime/debug"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

// callTimeout is how long a call may take where its tool does not say (docs/protocols/zeus-nodes.md#calls).
const callTimeout = 60 * time.Second

// toolCaller calls tools under their time limits, counts and traces the calls. It is static; any goroutine may use it.
type toolCaller struct {
	metrics *metrics
	tracing *obs.Tracing
	log     *slog.Logger
}

// call calls a tool, or does the rest of a call that was prepared, and survives panics.
func (c toolCaller) call(ctx context.Context, t tool.Tool, in tool.Invocation, p *preparation) (out outcome) {
	spec := t.Spec()
	limit := spec.Timeout
	if limit <= 0 {
		limit = callTimeout
	}
	began := time.Now()
	ctx, span := c.startSpan(ctx, spec, in.CallID)
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	defer func() {
		if p := recover(); p != nil { // p itself may hold what the user wrote
			c.log.ErrorContext(ctx, "a tool panicked", "layer", spec.Layer, "stack", string(debug.Stack()))
			out = failed(&tool.Failure{Outcome: tool.Unknown, Message: "the tool failed in an unexpected way"})
		}
		if out.unfinished == nil {
			c.metrics.called(ctx, spec.Layer, began, out)
		}
		endSpan(span, out)
	}()
	result, err := p.call(bounded, t, in)
	if err != nil {
		var unfinished *unfinishedError
		if errors.As(err, &unfinished) {
			return outcome{unfinished: unfinished.why}
		}
		var moved *tool.Moved
		return outcome{failure: failureOf(bounded, err), moved: errors.As(err, &moved)}
	}
	return outcome{result: result}
}

func (c toolCaller) startSpan(ctx context.Context, spec tool.Spec, callID string) (context.Context, trace.Span) {
	if c.tracing == nil {
		return c.tracing.Start(ctx, trace.SpanKindInternal, "")
	}
	ctx, span := c.tracing.Start(ctx, trace.SpanKindInternal, "execute_tool "+spec.Name)
	span.SetAttributes(
		attribute.String("gen_ai.operation.name", "execute_tool"), attribute.String("gen_ai.tool.name", spec.Name),
		attribute.String("gen_ai.tool.call.id", callID), attribute.String("hecaton.tool.layer", string(spec.Layer)),
	)
	return ctx, span
}

// endSpan ends the span of a call.
func endSpan(span trace.Span, out outcome) {
	defer span.End()
	if !span.IsRecording() {
		return
	}
	span.SetAttributes(attribute.String("hecaton.call.outcome", out.name()))
	if out.failure != nil {
		if out.failure.Reason != "" {
			span.SetAttributes(attribute.String("error.type", out.failure.Reason))
		}
		span.SetStatus(codes.Error, out.failure.Outcome)
	}
}

// failureOf says what is known about a call that ended with err under ctx.
func failureOf(ctx context.Context, err error) *tool.Failure {
	var failure *tool.Failure
	var choice *tool.Selection
	switch {
	case errors.As(err, &failure):
		return failure
	case errors.As(err, &choice):
		return selectionFailure
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return &tool.Failure{Outcome: tool.Unknown, Reason: string(errs.ToolTimeout), Message: "no answer came in time"}
	case ctx.Err() != nil:
		return &tool.Failure{Outcome: tool.Unknown, Reason: string(errs.Cancelled), Message: "the call was cancelled"}
	}
	return &tool.Failure{Outcome: tool.Unknown, Message: publicMessage(err)}
}

// selectionFailure is a call whose node was never chosen, and nobody can be asked any more.
var selectionFailure = &tool.Failure{
	Outcome: tool.NotDelivered, Reason: string(errs.RequiresSelection), Message: "several nodes are connected, and none is chosen for this conversation",
}
