package agent

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/llm"
)

// modelClient sends requests to models, counts and traces them. It is static; any goroutine may use it.
type modelClient struct {
	model   Model
	metrics *metrics
	tracing *obs.Tracing
}

// stream sends one request, and calls each for every piece of the answer.
func (c modelClient) stream(ctx context.Context, at llm.Endpoint, req llm.Request, each func(llm.Delta) error) (llm.Answer, error) {
	ctx, span := c.startSpan(ctx, at)
	defer span.End()
	began, first := time.Now(), time.Time{}
	answer, err := c.model.Stream(ctx, at, req, func(d llm.Delta) error {
		if first.IsZero() {
			first = time.Now()
			if span.IsRecording() {
				span.AddEvent("first token")
			}
		}
		return each(d)
	})
	c.metrics.asked(ctx, began, first, err)
	if span.IsRecording() {
		describeAnswer(span, answer, err)
	}
	return answer, err
}

func (c modelClient) startSpan(ctx context.Context, at llm.Endpoint) (context.Context, trace.Span) {
	if c.tracing == nil {
		return c.tracing.Start(ctx, trace.SpanKindClient, "")
	}
	ctx, span := c.tracing.Start(ctx, trace.SpanKindClient, "chat "+at.Model)
	span.SetAttributes(
		attribute.String("gen_ai.operation.name", "chat"), attribute.String("gen_ai.provider.name", "openai"),
		attribute.String("gen_ai.request.model", at.Model),
	)
	return ctx, span
}

func describeAnswer(span trace.Span, answer llm.Answer, err error) {
	if err != nil {
		span.SetAttributes(attribute.String("error.type", requestOutcome(err)))
		span.SetStatus(codes.Error, requestOutcome(err))
		return
	}
	span.SetAttributes(
		attribute.Int("gen_ai.usage.input_tokens", answer.Usage.Prompt), attribute.Int("gen_ai.usage.output_tokens", answer.Usage.Completion),
		attribute.StringSlice("gen_ai.response.finish_reasons", []string{answer.Finish}),
	)
}
