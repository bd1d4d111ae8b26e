package obs

import (
	"context"
	"fmt"
	"io"
	"log/slog"

	"go.opentelemetry.io/otel/trace"
)

// LogConfig is how a service logs.
type LogConfig struct {
	Level  slog.Level `conf:"log-level" env:"LOG_LEVEL" default:"info" help:"least level that is logged: debug, info, warn or error"`
	Format LogFormat  `conf:"log-format" env:"LOG_FORMAT" default:"json" help:"json, or text for people"`
}

// LogFormat is the form of a log line.
type LogFormat string

// The forms of a log line.
const (
	JSON LogFormat = "json"
	Text LogFormat = "text"
)

// UnmarshalText refuses unknown formats.
func (f *LogFormat) UnmarshalText(text []byte) error {
	switch got := LogFormat(text); got {
	case JSON, Text:
		*f = got
		return nil
	default:
		return fmt.Errorf("%q is not json or text", text)
	}
}

// NewLogger returns a logger that writes to w, with trace_id and span_id wherever the context of a line has them. An
// empty format is [JSON].
func NewLogger(w io.Writer, level slog.Leveler, format LogFormat) *slog.Logger {
	options := &slog.HandlerOptions{Level: level}
	if format == Text {
		return slog.New(traced{slog.NewTextHandler(w, options)})
	}
	return slog.New(traced{slog.NewJSONHandler(w, options)})
}

// OrDiscard returns log, or a logger that drops everything where log is nil.
func OrDiscard(log *slog.Logger) *slog.Logger {
	if log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return log
}

// traced adds the ids of the context's span to each line.
type traced struct{ slog.Handler }

func (h traced) Handle(ctx context.Context, r slog.Record) error {
	if sc := trace.SpanContextFromContext(ctx); sc.IsValid() {
		r.AddAttrs(slog.String("trace_id", sc.TraceID().String()), slog.String("span_id", sc.SpanID().String()))
	}
	return h.Handler.Handle(ctx, r)
}

func (h traced) WithAttrs(attrs []slog.Attr) slog.Handler { return traced{h.Handler.WithAttrs(attrs)} }

func (h traced) WithGroup(name string) slog.Handler { return traced{h.Handler.WithGroup(name)} }
