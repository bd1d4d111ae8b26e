package edge

import (
	"net/http"

	"github.com/hecaton-dev/hecaton/pkg/security/webguard"
)

// Pages lets the web pages and extensions call REST and open sockets whose origins are allowed (CORS), and refuses the
// others before anything runs.
func Pages(guard *webguard.Guard) Layer {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			h := w.Header()
			h["Cross-Origin-Resource-Policy"] = sameOrigin // no page of another origin may embed an answer
			h["X-Content-Type-Options"] = noSniff
			if err := guard.Check(r); err != nil {
				NewProblem(err, nil).Write(w)
				return
			}
			if origin := r.Header.Get("Origin"); origin != "" {
				h.Add("Vary", "Origin")
				h.Set("Access-Control-Allow-Origin", origin)
				h.Set("Access-Control-Allow-Credentials", "true")
				h.Set("Access-Control-Expose-Headers",
					"ETag, Content-Disposition, Retry-After, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Mcp-Session-Id, WWW-Authenticate")
				if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
					h.Set("Access-Control-Allow-Methods", "GET, POST, PUT, PATCH, DELETE")
					h.Set("Access-Control-Allow-Headers",
						"Authorization, Content-Type, X-User-Id, Traceparent, Last-Event-ID, Idempotency-Key, If-None-Match, "+
							"Mcp-Protocol-Version, Mcp-Session-Id, Mcp-Method, Mcp-Name")
					h.Set("Access-Control-Max-Age", "600")
					w.WriteHeader(http.StatusNoContent)
					return
				}
			}
			next.ServeHTTP(w, r)
		})
	}
}

// Values of headers that all answers have and share; they are never changed.
var (
	sameOrigin = []string{"same-origin"}
	noSniff    = []string{"nosniff"}
)
