package testkit

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Healthcheck tests a program's health check: it asks the admin port that the program's own configuration names, and fails
// exactly where that fails. run is the program; environ is all that it cannot do without.
func Healthcheck(t *testing.T, run func(args, environ []string) error, environ ...string) {
	t.Helper()
	well := true
	admin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/readyz" && !well {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	t.Cleanup(admin.Close)
	environ = append(environ, "ADMIN_ADDR="+admin.Listener.Addr().String())
	if err := run([]string{"healthcheck"}, environ); err != nil {
		t.Errorf("it is well: %v", err)
	}
	well = false
	if err := run([]string{"healthcheck"}, environ); err == nil || !strings.Contains(err.Error(), "503") {
		t.Errorf("it is not well: %v", err)
	}
	if err := run([]string{"healthcheck", "--live"}, environ); err != nil {
		t.Errorf("it is alive: %v", err)
	}
}
