package main

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/config"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// The health check asks the admin port that the program's own configuration names.
func TestHealthcheck(t *testing.T) {
	t.Parallel()
	well := true
	admin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/readyz" && !well {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	t.Cleanup(admin.Close)
	environ := []string{"SERVICE_TOKEN=a-token-for-services", "ADMIN_ADDR=" + admin.Listener.Addr().String()}
	if err := run(t.Context(), []string{"healthcheck"}, environ, nil); err != nil {
		t.Errorf("it is well: %v", err)
	}
	well = false
	if err := run(t.Context(), []string{"healthcheck"}, environ, nil); err == nil || !strings.Contains(err.Error(), "503") {
		t.Errorf("it is not well: %v", err)
	}
	if err := run(t.Context(), []string{"healthcheck", "--live"}, environ, nil); err != nil {
		t.Errorf("it is alive: %v", err)
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := run(t.Context(), []string{"--help"}, nil, &out); !errors.Is(err, config.ErrHelp) || !strings.Contains(out.String(), "--admin-addr") {
		t.Errorf("%v: %s", err, &out)
	}
	if err := run(t.Context(), []string{"--grpc-adr", ":1"}, nil, &out); err == nil || !strings.Contains(err.Error(), "--grpc-addr") {
		t.Errorf("got %v", err)
	}
}
