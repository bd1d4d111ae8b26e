package edge

import (
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"
)

// textHeaders are the headers that are used beyond this package.
var textHeaders = []string{"X-User-Id", "Idempotency-Key", "Content-Type", "Last-Event-Id", "If-None-Match", "Traceparent", "Tracestate"}

// Text refuses a request whose path, query or headers are not UTF-8: all handlers may rely on it. The parameters of sockets are
// checked by their dialects, which refuse them in their own way.
//
// socket reports whether a path is that of a socket.
func Text(socket func(path string) bool) Layer {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			what := noText(r)
			if what == "" && !socket(r.URL.Path) {
				what = badParameter(r.URL.RawQuery)
			}
			if what != "" {
				NewProblem(&BadRequest{Message: what + " is not valid UTF-8"}, nil).Write(w)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// noText names the part of a request, apart from its query, that is not UTF-8; "" for none.
func noText(r *http.Request) string {
	if !utf8.ValidString(r.URL.Path) {
		return "the path"
	}
	for _, name := range textHeaders {
		for _, value := range r.Header[name] {
			if !utf8.ValidString(value) {
				return "the header " + name
			}
		}
	}
	return ""
}

// badParameter names the part of a query that is not UTF-8; "" for none.
func badParameter(raw string) string {
	if !strings.Contains(raw, "%") && utf8.ValidString(raw) {
		return ""
	}
	for pair := range strings.SplitSeq(raw, "&") {
		name, value, _ := strings.Cut(pair, "=")
		if !isText(name) {
			return "a name in the query"
		}
		if !isText(value) {
			return name + " in the query"
		}
	}
	return ""
}

// isText looks at a part of a query. A part that is badly escaped counts as text: whoever reads the query leaves it out.
func isText(part string) bool {
	text, err := url.QueryUnescape(part)
	return err != nil || utf8.ValidString(text)
}
