package edge

import (
	"net/http"

	"github.com/hecaton-dev/hecaton/pkg/auth"
)

// CORS lets the web pages and extensions call REST whose origins are allowed, and refuses the others before anything
// runs.
func CORS(a *auth.Authenticator, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := a.CheckOrigin(r); err != nil {
			NewProblem(err, nil).Write(w)
			return
		}
		if origin := r.Header.Get("Origin"); origin != "" {
			h := w.Header()
			h.Add("Vary", "Origin")
			h.Set("Access-Control-Allow-Origin", origin)
			h.Set("Access-Control-Allow-Credentials", "true")
			h.Set("Access-Control-Expose-Headers",
				"ETag, Content-Disposition, Retry-After, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset")
			if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
				h.Set("Access-Control-Allow-Methods", "GET, POST, PUT, DELETE")
				h.Set("Access-Control-Allow-Headers",
					"Authorization, Content-Type, X-User-Id, Traceparent, Last-Event-ID, Idempotency-Key, If-None-Match")
				h.Set("Access-Control-Max-Age", "600")
				w.WriteHeader(http.StatusNoContent)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}
