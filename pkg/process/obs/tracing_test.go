package obs_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc"
	grpccodes "google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/hecaton-dev/hecaton/pkg/process/lifecycle"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
)

// keeper is an exporter whose spans outlive Shutdown.
type keeper struct{ *tracetest.InMemoryExporter }

func (keeper) Shutdown(context.Context) error { return nil }

// collect runs work with a Tracing and returns its spans by name.
func collect(t *testing.T, work func(*obs.Tracing)) map[string]tracetest.SpanStub {
	t.Helper()
	exporter := keeper{tracetest.NewInMemoryExporter()}
	tracing := newTracing(t, obs.TracingOptions{Pod: obs.Pod{Service: "gateway", Instance: "g0", Version: "v1"}, Ratio: 1, Exporter: exporter})
	work(tracing)
	if err := tracing.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	spans := map[string]tracetest.SpanStub{}
	for _, span := range exporter.GetSpans() {
		spans[span.Name] = span
	}
	return spans
}

func TestTracingOff(t *testing.T) {
	t.Parallel()
	off := newTracing(t, obs.TracingOptions{Ratio: 1})
	if off != nil {
		t.Fatal("without an exporter there is a Tracing")
	}
	ctx := obs.WithTraceparent(t.Context(), parent)
	under, span := off.Start(ctx, trace.SpanKindServer, "x")
	if under != ctx || span.IsRecording() {
		t.Error("a span was begun")
	}
	var g lifecycle.Group
	off.AddTo(&g)
	if err := off.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	// What the caller sent is passed on all the same.
	handler := off.Handler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if got := obs.Traceparent(r.Context()); got != parent {
			t.Errorf("got %q", got)
		}
	}))
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Header.Set("Traceparent", parent)
	handler.ServeHTTP(httptest.NewRecorder(), r)
}

func TestTracingHTTP(t *testing.T) {
	t.Parallel()
	spans := collect(t, func(tracing *obs.Tracing) {
		mux := http.NewServeMux()
		mux.HandleFunc("GET /x/{id}", func(w http.ResponseWriter, r *http.Request) {
			_, span := tracing.Start(r.Context(), trace.SpanKindInternal, "inside")
			span.End()
			w.WriteHeader(http.StatusTeapot + 100)
			if err := http.NewResponseController(w).Flush(); err != nil {
				t.Errorf("the writer below cannot be reached: %v", err)
			}
		})
		r := httptest.NewRequest(http.MethodGet, "/x/secret?token=secret", nil)
		r.Header.Set("Traceparent", parent)
		tracing.Handler(mux).ServeHTTP(httptest.NewRecorder(), r)
		tracing.Handler(mux).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/secret", nil))
	})
	if _, ok := spans["GET"]; !ok {
		t.Errorf("a request that nothing serves is none of the spans: %v", slices.Collect(maps.Keys(spans)))
	}
	outer, inner := spans["GET /x/{id}"], spans["inside"]
	if strings.Contains(fmt.Sprint(outer), "secret") {
		t.Errorf("the path or the query shows: %+v", outer)
	}
	if outer.SpanContext.TraceID().String() != traceID || outer.Parent.SpanID().String() != spanID {
		t.Errorf("the caller's trace was not continued: %+v", outer)
	}
	if inner.Parent.SpanID() != outer.SpanContext.SpanID() {
		t.Error("the inner span is not under the outer one")
	}
	if outer.Status.Code != codes.Error {
		t.Errorf("status %v of an answer of 518", outer.Status)
	}
	if got := outer.Resource.String(); !strings.Contains(got, "service.instance.id=g0") {
		t.Errorf("resource %s", got)
	}
}

// unsampled is the parent of a trace that its beginner does not record.
const unsampled = "00-" + traceID + "-" + spanID + "-00"

func TestCallersDecideOnSampling(t *testing.T) {
	t.Parallel()
	spans := collect(t, func(tracing *obs.Tracing) {
		ctx, span := tracing.Start(obs.WithTraceparent(t.Context(), unsampled), trace.SpanKindServer, "x")
		span.End()
		if got := obs.Traceparent(ctx); !strings.HasPrefix(got, "00-"+traceID) || !strings.HasSuffix(got, "-00") {
			t.Errorf("passed on as %q", got)
		}
	})
	if len(spans) != 0 {
		t.Errorf("recorded %v", spans)
	}
}

// traceServer is a health service that answers which trace it was called in.
type traceServer struct {
	grpc_health_v1.UnimplementedHealthServer
	seen chan string
}

func (s traceServer) Check(ctx context.Context, _ *grpc_health_v1.HealthCheckRequest) (*grpc_health_v1.HealthCheckResponse, error) {
	s.seen <- obs.Traceparent(ctx)
	return nil, status.Error(grpccodes.NotFound, "no")
}

func (s traceServer) Watch(_ *grpc_health_v1.HealthCheckRequest, stream grpc.ServerStreamingServer[grpc_health_v1.HealthCheckResponse]) error {
	s.seen <- obs.Traceparent(stream.Context())
	return stream.Send(&grpc_health_v1.HealthCheckResponse{})
}

func TestTracingGRPC(t *testing.T) {
	t.Parallel()
	for name, on := range map[string]bool{"on": true, "off": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var unary, stream string
			spans := collect(t, func(tracing *obs.Tracing) {
				if !on {
					tracing = nil
				}
				unary, stream = callBoth(t, tracing)
			})
			prefix := "00-" + traceID + "-"
			if !strings.HasPrefix(unary, prefix) || !strings.HasPrefix(stream, prefix) {
				t.Errorf("the server saw the traces %q and %q", unary, stream)
			}
			if !on {
				if len(spans) != 0 || unary != parent {
					t.Errorf("off, but %v was recorded and %q passed on", spans, unary)
				}
				return
			}
			check := spans[grpc_health_v1.Health_Check_FullMethodName[1:]]
			if check.Status.Code != codes.Error || check.Status.Description != grpccodes.NotFound.String() {
				t.Errorf("status %v", check.Status)
			}
			if watch := spans[grpc_health_v1.Health_Watch_FullMethodName[1:]]; watch.SpanKind != trace.SpanKindServer || watch.Status.Code == codes.Error {
				t.Errorf("span of the stream: %+v", watch)
			}
		})
	}
}

// callBoth calls a server once without and once with a stream, in the trace of parent, and returns what it saw.
func callBoth(t *testing.T, tracing *obs.Tracing) (unary, stream string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	service := traceServer{seen: make(chan string, 2)}
	server := grpc.NewServer(tracing.ServerOptions()...)
	grpc_health_v1.RegisterHealthServer(server, service)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	defer func() {
		server.Stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	}()
	conn, err := grpc.NewClient(listener.Addr().String(),
		append(tracing.DialOptions(), grpc.WithTransportCredentials(insecure.NewCredentials()))...)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	client, ctx := grpc_health_v1.NewHealthClient(conn), obs.WithTraceparent(t.Context(), parent)
	if _, err := client.Check(ctx, &grpc_health_v1.HealthCheckRequest{}); status.Code(err) != grpccodes.NotFound {
		t.Fatal(err)
	}
	watch, err := client.Watch(ctx, &grpc_health_v1.HealthCheckRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := watch.Recv(); err != nil {
		t.Fatal(err)
	}
	_, _ = watch.Recv() // the end of the stream, so that the server's span is over
	return <-service.seen, <-service.seen
}

// refusing is an exporter whose collector is down.
type refusing struct{ sdktrace.SpanExporter }

func (refusing) ExportSpans(context.Context, []sdktrace.ReadOnlySpan) error {
	return errors.New("connection refused")
}
func (refusing) Shutdown(context.Context) error { return nil }

func TestLostSpansAreLogged(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	tracing := newTracing(t, obs.TracingOptions{Ratio: 1, Exporter: refusing{}, Logger: obs.NewLogger(&out, slog.LevelInfo, obs.JSON)})
	_, span := tracing.Start(t.Context(), trace.SpanKindServer, "x")
	span.End()
	if err := tracing.Shutdown(t.Context()); err != nil {
		t.Errorf("a collector that is down fails the pod: %v", err)
	}
	if !strings.Contains(out.String(), "connection refused") {
		t.Errorf("log: %s", out.String())
	}
}

func newTracing(t *testing.T, o obs.TracingOptions) *obs.Tracing {
	t.Helper()
	tracing, err := obs.NewTracing(o)
	if err != nil {
		t.Fatal(err)
	}
	return tracing
}

func TestRatioIsAShare(t *testing.T) {
	t.Parallel()
	for _, ratio := range []float64{-0.1, 1.1, math.NaN()} {
		if _, err := obs.NewTracing(obs.TracingOptions{Ratio: ratio}); err == nil {
			t.Errorf("%v is taken", ratio)
		}
		if err := (obs.TraceConfig{Ratio: ratio}).Validate(); err == nil || !strings.Contains(err.Error(), "trace-ratio") {
			t.Errorf("%v: %v", ratio, err)
		}
	}
}
