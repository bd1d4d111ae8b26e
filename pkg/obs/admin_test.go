package obs_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hecaton-dev/hecaton/pkg/lifecycle"
	"github.com/hecaton-dev/hecaton/pkg/obs"
)

func get(t *testing.T, h http.Handler, path string) (int, string) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
	return w.Code, w.Body.String()
}

func TestLivenessAsksNobody(t *testing.T) {
	t.Parallel()
	ready := lifecycle.NewReady("redis")
	ready.Watch("nats", func(context.Context) error {
		t.Error("/livez asked a dependency")
		return nil
	})
	admin := obs.NewAdmin("", prometheus.NewRegistry(), ready, nil)
	ready.Drain()
	if code, body := get(t, admin.Handler(), "/livez"); code != http.StatusOK {
		t.Errorf("%d %s", code, body)
	}
}

func TestReadiness(t *testing.T) {
	t.Parallel()
	ready := lifecycle.NewReady("redis")
	broken := true
	ready.Watch("nats", func(ctx context.Context) error {
		if _, bounded := ctx.Deadline(); !bounded {
			t.Error("a check has no deadline")
		}
		if broken {
			return errors.New("no servers")
		}
		return nil
	})
	handler := obs.NewAdmin("", prometheus.NewRegistry(), ready, nil).Handler()
	want := func(code int, failing map[string]string) {
		t.Helper()
		got, body := get(t, handler, "/readyz")
		var answer struct {
			Status  string
			Failing map[string]string
		}
		if err := json.Unmarshal([]byte(body), &answer); err != nil {
			t.Fatal(err)
		}
		if got != code || !reflect.DeepEqual(answer.Failing, failing) {
			t.Errorf("got %d %s, want %d %v", got, body, code, failing)
		}
	}
	want(503, map[string]string{"redis": "not yet", "nats": "no servers"})
	ready.Set("redis", nil)
	broken = false
	want(200, nil)
	ready.Drain()
	want(503, map[string]string{"drain": "draining"})
}

func TestMetricsArePrivate(t *testing.T) {
	t.Parallel()
	one, two := obs.NewRegistry(obs.Pod{Service: "gateway", Version: "v1"}), obs.NewRegistry(obs.Pod{})
	one.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "only_one_total", Help: "h"}, func() float64 { return 7 }))
	_, body := get(t, obs.NewAdmin("", one, &lifecycle.Ready{}, nil).Handler(), "/metrics")
	for _, want := range []string{"only_one_total 7", `hecaton_build_info{service="gateway",version="v1"} 1`, "go_goroutines", "process_cpu_seconds_total"} {
		if !strings.Contains(body, want) {
			t.Errorf("/metrics lacks %s", want)
		}
	}
	if _, body := get(t, obs.NewAdmin("", two, &lifecycle.Ready{}, nil).Handler(), "/metrics"); strings.Contains(body, "only_one_total") {
		t.Error("the metric of one pod shows on another")
	}
}

func TestProfiles(t *testing.T) {
	t.Parallel()
	handler := obs.NewAdmin("", prometheus.NewRegistry(), &lifecycle.Ready{}, nil).Handler()
	for _, path := range []string{"/debug/pprof/", "/debug/pprof/heap", "/debug/pprof/goroutine", "/debug/pprof/cmdline", "/debug/pprof/symbol"} {
		if code, _ := get(t, handler, path); code != http.StatusOK {
			t.Errorf("%s answers %d", path, code)
		}
	}
}

func TestAServiceAddsRoutes(t *testing.T) {
	t.Parallel()
	admin := obs.NewAdmin("", prometheus.NewRegistry(), &lifecycle.Ready{}, nil)
	admin.Handle("POST /thing", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusAccepted) }))
	for site, want := range map[string]int{"": http.StatusAccepted, "cross-site": http.StatusForbidden} {
		req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/thing", nil)
		if site != "" {
			req.Header.Set("Sec-Fetch-Site", site)
		}
		w := httptest.NewRecorder()
		admin.Handler().ServeHTTP(w, req)
		if w.Code != want {
			t.Errorf("from site %q: %d, want %d", site, w.Code, want)
		}
	}
}

func TestAdminAsAPart(t *testing.T) {
	t.Parallel()
	admin := obs.NewAdmin("127.0.0.1:0", prometheus.NewRegistry(), &lifecycle.Ready{}, nil)
	if admin.Addr() != "" {
		t.Error("an address before listening")
	}
	var g lifecycle.Group
	admin.AddTo(&g)
	ctx, cancel := context.WithCancel(t.Context())
	up := make(chan struct{})
	g.Add("up", func(context.Context) error { close(up); return nil }, nil)
	done := make(chan error, 1)
	go func() { done <- g.Run(ctx) }()
	<-up
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 10 * time.Second}
	res, err := client.Get("http://" + admin.Addr() + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, res.Body)
	_ = res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Errorf("got %s", res.Status)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if res, err := client.Get("http://" + admin.Addr() + "/livez"); err == nil {
		_ = res.Body.Close()
		t.Error("the port is still open")
	}
}

func TestAdminPortTaken(t *testing.T) {
	t.Parallel()
	first := obs.NewAdmin("127.0.0.1:0", prometheus.NewRegistry(), &lifecycle.Ready{}, nil)
	if err := first.Listen(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer first.Close(t.Context())
	var g lifecycle.Group
	obs.NewAdmin(first.Addr(), prometheus.NewRegistry(), &lifecycle.Ready{}, nil).AddTo(&g)
	if err := g.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "start admin listener: admin port: listen") {
		t.Errorf("got %v", err)
	}
}
