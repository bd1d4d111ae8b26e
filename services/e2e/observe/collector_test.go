package observe_test

import (
	"encoding/hex"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// span is a span as a collector hears of it.
type span struct {
	*tracev1.Span
	service, instance string
}

func (s span) id() string     { return hex.EncodeToString(s.SpanId) }
func (s span) parent() string { return hex.EncodeToString(s.ParentSpanId) }
func (s span) trace() string  { return hex.EncodeToString(s.TraceId) }

func (s span) attribute(key string) string {
	for _, a := range s.Attributes {
		if a.GetKey() == key {
			return text(a.GetValue())
		}
	}
	return ""
}

func text(v *common.AnyValue) string {
	if s, ok := v.GetValue().(*common.AnyValue_StringValue); ok {
		return s.StringValue
	}
	return v.String()
}

// receiver is an OTLP/HTTP collector.
type receiver struct {
	*httptest.Server
	t *testing.T

	mu    sync.Mutex
	spans map[string]span // by id
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{t: t, spans: map[string]span{}}
	r.Server = httptest.NewServer(http.HandlerFunc(r.take))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) take(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	batch := &collector.ExportTraceServiceRequest{}
	if err != nil || req.URL.Path != "/v1/traces" || proto.Unmarshal(body, batch) != nil {
		r.t.Errorf("%s with %d bytes is no batch of spans", req.URL.Path, len(body))
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, resource := range batch.GetResourceSpans() {
		of := span{Span: &tracev1.Span{Attributes: resource.GetResource().GetAttributes()}}
		for _, scope := range resource.GetScopeSpans() {
			for _, s := range scope.GetSpans() {
				got := span{s, of.attribute("service.name"), of.attribute("service.instance.id")}
				r.spans[got.id()] = got
			}
		}
	}
}

// all are the spans so far.
func (r *receiver) all() []span {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Collect(maps.Values(r.spans))
}

// path returns the names of a span and of those above it, the root first, each with the pod that made it.
func (r *receiver) path(id string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var names []string
	for s, ok := r.spans[id]; ok; s, ok = r.spans[s.parent()] {
		kind := strings.ToLower(strings.TrimPrefix(s.GetKind().String(), "SPAN_KIND_"))
		names = append(names, s.instance+": "+s.GetName()+" ("+kind+")")
	}
	slices.Reverse(names)
	return names
}
