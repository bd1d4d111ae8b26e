package agent

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/llm"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

// A run is a span for as long as a pod works on it, under the request that began it or went on with it; under that its
// steps, and under each the questions to the model and the calls of tools that it took. Their attributes follow
// OpenTelemetry's conventions for generative AI, without what was said: no prompts, answers, arguments or results.

// trail is the spans of a run.
type trail struct {
	tracing *obs.Tracing
	run     trace.Span
	step    trace.Span // nil before the first, and where none is recorded
}

// follow begins the span of a run under the request that a traceparent names, and returns the context of all that is done
// for the run.
func follow(tracing *obs.Tracing, traceparent, run string) (context.Context, trail) {
	ctx, span := tracing.Start(obs.WithTraceparent(context.Background(), traceparent), trace.SpanKindInternal, "invoke_agent")
	if span.IsRecording() {
		span.SetAttributes(attribute.String("gen_ai.operation.name", "invoke_agent"), attribute.String("hecaton.run.id", run))
	}
	return ctx, trail{tracing: tracing, run: span}
}

// under returns ctx in the span of the step.
func (t *trail) under(ctx context.Context) context.Context {
	if t.step == nil {
		return ctx
	}
	return trace.ContextWithSpan(ctx, t.step)
}

// under returns ctx in the span of the run's step; a sub-agent's is in that of its call already.
func (t *thread) under(ctx context.Context) context.Context {
	if t.isTask() {
		return ctx
	}
	return t.trail.under(ctx)
}

// next ends the step before and begins another.
func (t *trail) next(ctx context.Context, number int) {
	if !t.run.IsRecording() {
		return
	}
	t.endStep()
	_, t.step = t.tracing.Start(ctx, trace.SpanKindInternal, "agent step")
	t.step.SetAttributes(attribute.Int("hecaton.run.step", number))
}

func (t *trail) endStep() {
	if t.step != nil {
		t.step.End()
		t.step = nil
	}
}

// ended notes how the run ended.
func (t *trail) ended(reason string) {
	if !t.run.IsRecording() {
		return
	}
	t.run.SetAttributes(attribute.String("hecaton.run.finish_reason", reason))
	if reason == finishError {
		t.run.SetStatus(codes.Error, reason)
	}
}

// close ends the spans that are open.
func (t *trail) close() {
	t.endStep()
	t.run.End()
}

// ask asks a model once. It counts the question, and traces it.
func (e *Engine) ask(ctx context.Context, at llm.Endpoint, req llm.Request, each func(llm.Delta) error) (llm.Answer, error) {
	ctx, span := e.chat(ctx, at)
	defer span.End()
	began, first := time.Now(), time.Time{}
	answer, err := e.deps.Model.Stream(ctx, at, req, func(d llm.Delta) error {
		if first.IsZero() {
			first = time.Now()
			if span.IsRecording() {
				span.AddEvent("first token")
			}
		}
		return each(d)
	})
	e.metrics.asked(ctx, began, first, err)
	if span.IsRecording() {
		answered(span, answer, err)
	}
	return answer, err
}

func (e *Engine) chat(ctx context.Context, at llm.Endpoint) (context.Context, trace.Span) {
	if e.deps.Tracing == nil {
		return e.deps.Tracing.Start(ctx, trace.SpanKindClient, "")
	}
	ctx, span := e.deps.Tracing.Start(ctx, trace.SpanKindClient, "chat "+at.Model)
	span.SetAttributes(
		attribute.String("gen_ai.operation.name", "chat"), attribute.String("gen_ai.provider.name", "openai"),
		attribute.String("gen_ai.request.model", at.Model),
	)
	return ctx, span
}

func answered(span trace.Span, answer llm.Answer, err error) {
	if err != nil {
		span.SetAttributes(attribute.String("error.type", askEnding(err)))
		span.SetStatus(codes.Error, askEnding(err))
		return
	}
	span.SetAttributes(
		attribute.Int("gen_ai.usage.input_tokens", answer.Usage.Prompt), attribute.Int("gen_ai.usage.output_tokens", answer.Usage.Completion),
		attribute.StringSlice("gen_ai.response.finish_reasons", []string{answer.Finish}),
	)
}

// executing begins the span of a tool's call.
func (e *Engine) executing(ctx context.Context, spec tool.Spec, callID string) (context.Context, trace.Span) {
	if e.deps.Tracing == nil {
		return e.deps.Tracing.Start(ctx, trace.SpanKindInternal, "")
	}
	ctx, span := e.deps.Tracing.Start(ctx, trace.SpanKindInternal, "execute_tool "+spec.Name)
	span.SetAttributes(
		attribute.String("gen_ai.operation.name", "execute_tool"), attribute.String("gen_ai.tool.name", spec.Name),
		attribute.String("gen_ai.tool.call.id", callID), attribute.String("hecaton.tool.layer", string(spec.Layer)),
	)
	return ctx, span
}

// executed ends it.
func executed(span trace.Span, out outcome) {
	defer span.End()
	if !span.IsRecording() {
		return
	}
	span.SetAttributes(attribute.String("hecaton.call.outcome", out.ending()))
	if out.failure != nil {
		if out.failure.Reason != "" {
			span.SetAttributes(attribute.String("error.type", out.failure.Reason))
		}
		span.SetStatus(codes.Error, out.failure.Outcome)
	}
}
