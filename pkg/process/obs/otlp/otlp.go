// Package otlp sends spans to an OpenTelemetry collector over HTTP. It stands apart from package obs so that only
// programs that send spans carry the exporter.
package otlp

import (
	"context"
	"fmt"
	"net/url"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// New returns an exporter for the collector at endpoint, such as "http://localhost:4318", to which /v1/traces is
// appended; nil, and no error, where endpoint is empty. Headers, timeouts and certificates are read from the other
// OTEL_EXPORTER_OTLP_* variables of the process, as the OpenTelemetry specification names them.
func New(ctx context.Context, endpoint string) (sdktrace.SpanExporter, error) {
	if endpoint == "" {
		return nil, nil
	}
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, fmt.Errorf("OTLP endpoint %q is not an http or https URL", endpoint)
	}
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(u.JoinPath("v1", "traces").String()))
	if err != nil {
		return nil, fmt.Errorf("OTLP exporter: %w", err)
	}
	return exporter, nil
}
