package agent

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/agent/journal"
)

// runTrace is the spans of a run: one for as long as this pod works on it, under the request that began or resumed it; below
// that one for each step, and below each step those of its requests to the model and its calls of tools. Attributes follow
// OpenTelemetry's conventions for generative AI. They hold no prompts, answers, arguments or results.
//
// The run's goroutine owns it; sub-agents only read it, while that goroutine waits for them.
type runTrace struct {
	tracing *obs.Tracing
	run     trace.Span
	step    trace.Span // nil before the first step, and if nothing is recorded
}

// startTrace begins the span of a run under the request that a traceparent names, and returns the context of all that is
// done for the run.
func startTrace(tracing *obs.Tracing, traceparent, run string) (context.Context, *runTrace) {
	ctx, span := tracing.Start(obs.WithTraceparent(context.Background(), traceparent), trace.SpanKindInternal, "invoke_agent")
	if span.IsRecording() {
		span.SetAttributes(attribute.String("gen_ai.operation.name", "invoke_agent"), attribute.String("hecaton.run.id", run))
	}
	return ctx, &runTrace{tracing: tracing, run: span}
}

// inStep returns ctx in the span of the current step.
func (t *runTrace) inStep(ctx context.Context) context.Context {
	if t.step == nil {
		return ctx
	}
	return trace.ContextWithSpan(ctx, t.step)
}

// nextStep ends the span of the step before and begins another.
func (t *runTrace) nextStep(ctx context.Context, number int) {
	if !t.run.IsRecording() {
		return
	}
	t.endStep()
	_, t.step = t.tracing.Start(ctx, trace.SpanKindInternal, "agent step")
	t.step.SetAttributes(attribute.Int("hecaton.run.step", number))
}

func (t *runTrace) endStep() {
	if t.step != nil {
		t.step.End()
		t.step = nil
	}
}

// finished notes how the run ended.
func (t *runTrace) finished(reason string) {
	if !t.run.IsRecording() {
		return
	}
	t.run.SetAttributes(attribute.String("hecaton.run.finish_reason", reason))
	if reason == journal.FinishError {
		t.run.SetStatus(codes.Error, reason)
	}
}

// close ends the spans that are open.
func (t *runTrace) close() {
	t.endStep()
	t.run.End()
}
