package store

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/hecaton-dev/hecaton/pkg/process/obs"
)

// tracer makes a span of each transaction that is done for something that is traced. What a pod does by itself, such as looking for
// runs to adopt, begins no trace. A nil *tracer makes none.
type tracer struct {
	tracing *obs.Tracing
	system  string // as OpenTelemetry names it
}

func newTracer(t *obs.Tracing, system string) *tracer {
	if t == nil {
		return nil
	}
	return &tracer{t, system}
}

// do does an operation of so many statements within its span.
func (t *tracer) do(ctx context.Context, operation string, statements int, do func(context.Context) error) error {
	if t == nil || !trace.SpanContextFromContext(ctx).IsValid() {
		return do(ctx)
	}
	ctx, span := t.tracing.Start(ctx, trace.SpanKindClient, "database "+operation)
	defer span.End()
	if span.IsRecording() {
		span.SetAttributes(
			attribute.String("db.system.name", t.system),
			attribute.String("db.operation.name", operation),
			attribute.Int("db.operation.batch.size", statements),
		)
	}
	err := do(ctx)
	if err != nil && !errors.Is(err, errUnmet) && !errors.Is(err, errTaken) && !errors.Is(err, context.Canceled) {
		span.SetStatus(codes.Error, "the database did not do it") // an error's text may have what is its user's
	}
	return err
}

// traced is a database with a span for each transaction.
type traced struct {
	database
	tracer *tracer
}

func (d traced) read(ctx context.Context, queries []statement) error {
	return d.tracer.do(ctx, "read", len(queries), func(ctx context.Context) error { return d.database.read(ctx, queries) })
}

func (d traced) write(ctx context.Context, statements []statement) error {
	return d.tracer.do(ctx, "write", len(statements), func(ctx context.Context) error { return d.database.write(ctx, statements) })
}
