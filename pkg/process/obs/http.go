package obs

import (
	"net/http"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// Handler continues the trace of each request, or begins one, in a span that has the name of its route, such as "POST
// /api/node/bind": next is, or leads to, an [http.ServeMux]. The path itself is not recorded, since it may contain names
// that users chose. A request that takes over its connection (a WebSocket) is one span as long as its handler runs.
func (t *Tracing) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := ExtractHTTP(r.Context(), r.Header)
		if t == nil {
			if ctx != r.Context() {
				r = r.WithContext(ctx)
			}
			next.ServeHTTP(w, r)
			return
		}
		ctx, span := t.Start(ctx, trace.SpanKindServer, methodOf(r))
		defer span.End()
		if !span.IsRecording() {
			next.ServeHTTP(w, r.WithContext(ctx))
			return
		}
		seen := &statusWriter{ResponseWriter: w, status: http.StatusOK}
		r = r.WithContext(ctx)
		next.ServeHTTP(seen, r)
		method, route := methodOf(r), routeOf(r)
		span.SetName(strings.TrimSpace(method + " " + route)) // of what nothing serves, only the method is told
		span.SetAttributes(
			attribute.String("http.request.method", method),
			attribute.String("http.route", route),
			attribute.Int("http.response.status_code", seen.status),
		)
		if seen.status >= http.StatusInternalServerError {
			span.SetStatus(codes.Error, http.StatusText(seen.status))
		}
	})
}

// methodOf is a request's method; a client may invent its own, which are not recorded.
func methodOf(r *http.Request) string {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return r.Method
	}
	return "_OTHER"
}

// routeOf is the pattern that a request was served by.
func routeOf(r *http.Request) string {
	_, route, found := strings.Cut(r.Pattern, " ")
	if !found {
		return r.Pattern
	}
	return route
}

// statusWriter remembers the first status that is final. Flushing and hijacking reach the writer below through Unwrap,
// which [http.ResponseController] and the WebSocket library follow.
type statusWriter struct {
	http.ResponseWriter
	status int
	wrote  bool
}

func (w *statusWriter) WriteHeader(status int) {
	if !w.wrote && (status >= http.StatusOK || status == http.StatusSwitchingProtocols) {
		w.status, w.wrote = status, true
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *statusWriter) Write(b []byte) (int, error) {
	w.wrote = true
	return w.ResponseWriter.Write(b)
}

func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
