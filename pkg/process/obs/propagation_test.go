package obs_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc/metadata"

	"github.com/hecaton-dev/hecaton/pkg/process/obs"
)

const state = "vendor=1"

// traced returns a context that an HTTP caller has given a trace with a state.
func traced(t *testing.T) context.Context {
	t.Helper()
	h := http.Header{}
	h.Set("traceparent", parent)
	h.Set("tracestate", state)
	return obs.ExtractHTTP(t.Context(), h)
}

func TestPropagationRoundTrips(t *testing.T) {
	t.Parallel()
	tests := map[string]func(context.Context) context.Context{
		"HTTP": func(ctx context.Context) context.Context {
			h := http.Header{}
			obs.InjectHTTP(ctx, h)
			if h.Get("Traceparent") != parent || h.Get("Tracestate") != state {
				t.Errorf("HTTP headers are %v", h)
			}
			return obs.ExtractHTTP(t.Context(), h)
		},
		"NATS": func(ctx context.Context) context.Context {
			h := map[string][]string{}
			obs.InjectNATS(ctx, h)
			if len(h["traceparent"]) != 1 || h["traceparent"][0] != parent || h["tracestate"][0] != state {
				t.Errorf("NATS headers are %v", h)
			}
			return obs.ExtractNATS(t.Context(), h)
		},
		"gRPC": func(ctx context.Context) context.Context {
			md, _ := metadata.FromOutgoingContext(obs.InjectGRPC(ctx))
			if md.Get("tracestate")[0] != state {
				t.Errorf("metadata is %v", md)
			}
			return obs.ExtractGRPC(metadata.NewIncomingContext(t.Context(), md))
		},
		"string": func(ctx context.Context) context.Context {
			return obs.WithTraceparent(t.Context(), obs.Traceparent(ctx))
		},
	}
	for name, hop := range tests {
		ctx := hop(traced(t))
		if got := obs.Traceparent(ctx); got != parent || !obs.Traced(ctx) {
			t.Errorf("%s: got %q, want %q", name, got, parent)
		}
	}
}

func TestWhatIsNoTraceparentIsIgnored(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{
		"x", "00-" + traceID + "-" + spanID, parent + "-x", "ff-" + traceID + "-" + spanID + "-01",
		"00-00000000000000000000000000000000-" + spanID + "-01", "00-" + traceID + "-0000000000000000-01",
		"00-4BF92F3577B34DA6A3CE929D0E0E4736-" + spanID + "-01",
	} {
		if ctx := obs.WithTraceparent(t.Context(), bad); ctx != t.Context() {
			t.Errorf("%q was taken for a trace", bad)
		}
		if ctx := obs.ExtractNATS(t.Context(), map[string][]string{"traceparent": {bad}}); ctx != t.Context() {
			t.Errorf("NATS: %q was taken for a trace", bad)
		}
	}
}

func TestWithoutATraceNothingIsAllocated(t *testing.T) {
	ctx := t.Context()
	httpHeader, natsHeader := http.Header{}, map[string][]string{}
	incoming := metadata.NewIncomingContext(ctx, metadata.Pairs("other", "x"))
	var off *obs.Tracing
	histogram := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "x_seconds"})
	tests := map[string]func(){
		"InjectHTTP":      func() { obs.InjectHTTP(ctx, httpHeader) },
		"ExtractHTTP":     func() { obs.ExtractHTTP(ctx, httpHeader) },
		"InjectNATS":      func() { obs.InjectNATS(ctx, nil) },
		"ExtractNATS":     func() { obs.ExtractNATS(ctx, natsHeader) },
		"InjectGRPC":      func() { obs.InjectGRPC(ctx) },
		"ExtractGRPC":     func() { obs.ExtractGRPC(incoming) },
		"Traceparent":     func() { _ = obs.Traceparent(ctx) },
		"WithTraceparent": func() { obs.WithTraceparent(ctx, "") },
		"Start":           func() { _, span := off.Start(ctx, 0, "x"); span.End() },
		"Continue":        func() { _, span := off.Continue("", 0, "x"); span.End() },
		"Observe":         func() { obs.Observe(ctx, histogram, 1) },
	}
	for name, f := range tests {
		if n := testing.AllocsPerRun(100, f); n != 0 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
}

func FuzzTraceparent(f *testing.F) {
	f.Add(parent)
	f.Add("01-" + traceID + "-" + spanID + "-ff-more")
	f.Fuzz(func(t *testing.T, s string) {
		once := obs.Traceparent(obs.WithTraceparent(t.Context(), s))
		if again := obs.Traceparent(obs.WithTraceparent(t.Context(), once)); again != once {
			t.Errorf("%q became %q, then %q", s, once, again)
		}
	})
}
