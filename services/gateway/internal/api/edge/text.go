package edge

import (
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"
)

// textHeaders are the headers of which something is made beyond this package.
var textHeaders = []string{"X-User-Id", "Idempotency-Key", "Content-Type", "Last-Event-Id", "If-None-Match", "Traceparent", "Tracestate"}

// Text refuses a request whose path, query or headers hold what is no text: everything behind it may take them for UTF-8.
// The parameters of sockets are left to their dialects, which refuse them in words of their own.
func Text(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if what := noText(r); what != "" {
			NewProblem(&BadRequest{Message: what + " is not valid UTF-8"}, nil).Write(w)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// noText names the part of a request that is no text; "" for none.
func noText(r *http.Request) string {
	if !utf8.ValidString(r.URL.Path) {
		return "the path"
	}
	if bad := badParameter(r.URL.RawQuery); bad != "" && !strings.HasPrefix(r.URL.Path, "/ws/") {
		return bad
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

// badParameter names what in a query is no text; "" for nothing.
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

// isText looks at a part of a query. Of what is not escaped well nothing is made: whoever reads the query leaves it out.
func isText(part string) bool {
	text, err := url.QueryUnescape(part)
	return err != nil || utf8.ValidString(text)
}
