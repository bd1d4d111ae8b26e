package otlp_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"go.opentelemetry.io/otel/trace"
	"go.uber.org/goleak"

	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/pkg/process/obs/otlp"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

func TestSpansReachTheCollector(t *testing.T) {
	t.Parallel()
	got := make(chan string, 1)
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got <- r.Method + " " + r.URL.Path + " " + r.Header.Get("Content-Type")
	}))
	defer collector.Close()
	exporter, err := otlp.New(t.Context(), collector.URL)
	if err != nil {
		t.Fatal(err)
	}
	tracing, err := obs.NewTracing(obs.TracingOptions{Pod: obs.Pod{Service: "test"}, Ratio: 1, Exporter: exporter})
	if err != nil {
		t.Fatal(err)
	}
	_, span := tracing.Start(t.Context(), trace.SpanKindServer, "x")
	span.End()
	if err := tracing.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if want := "POST /v1/traces application/x-protobuf"; <-got != want {
		t.Errorf("the collector got something else than %s", want)
	}
}

func TestEndpoint(t *testing.T) {
	t.Parallel()
	exporter, err := otlp.New(t.Context(), "")
	if exporter != nil || err != nil {
		t.Errorf("without an endpoint: %v, %v", exporter, err)
	}
	for _, bad := range []string{"localhost:4318", "grpc://localhost:4317", "http://", "::"} {
		if _, err := otlp.New(t.Context(), bad); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}
