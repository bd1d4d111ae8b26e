package edge

import "net/http"

// Leaving closes each connection after its answer once the pod drains: the client's next request finds another pod, instead of a
// connection that closes while it is sent.
func Leaving(draining func() bool) Layer {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if draining() {
				w.Header().Set("Connection", "close")
			}
			next.ServeHTTP(w, r)
		})
	}
}
