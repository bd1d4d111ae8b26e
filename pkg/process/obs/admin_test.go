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

	"github.com/hecaton-dev/hecaton/pkg/process/lifecycle"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
)

func newAdmin(t *testing.T, o obs.AdminOptions) *obs.Admin {
	t.Helper()
	admin, err := obs.NewAdmin(o)
	if err != nil {
		t.Fatal(err)
	}
	return admin
}

func get(t *testing.T, h http.Handler, path string) (int, string) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:9180"+path, nil))
	return w.Code, w.Body.String()
}

func TestLivenessAsksNobody(t *testing.T) {
	t.Parallel()
	ready := lifecycle.NewReady("redis")
	ready.Watch("nats", func(context.Context) error {
		t.Error("/livez asked a dependency")
		return nil
	})
	admin := newAdmin(t, obs.AdminOptions{Metrics: prometheus.NewRegistry(), Ready: ready})
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
	handler := newAdmin(t, obs.AdminOptions{Metrics: prometheus.NewRegistry(), Ready: ready}).Handler()
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
	_, body := get(t, newAdmin(t, obs.AdminOptions{Metrics: one, Ready: &lifecycle.Ready{}}).Handler(), "/metrics")
	for _, want := range []string{"only_one_total 7", `hecaton_build_info{service="gateway",version="v1"} 1`, "go_goroutines", "process_cpu_seconds_total"} {
		if !strings.Contains(body, want) {
			t.Errorf("/metrics lacks %s", want)
		}
	}
	if _, body := get(t, newAdmin(t, obs.AdminOptions{Metrics: two, Ready: &lifecycle.Ready{}}).Handler(), "/metrics"); strings.Contains(body, "only_one_total") {
		t.Error("the metric of one pod shows on another")
	}
}

func TestProfiles(t *testing.T) {
	t.Parallel()
	handler := newAdmin(t, obs.AdminOptions{Metrics: prometheus.NewRegistry(), Ready: &lifecycle.Ready{}}).Handler()
	for _, path := range []string{"/debug/pprof/", "/debug/pprof/heap", "/debug/pprof/goroutine?debug=1", "/debug/pprof/symbol"} {
		if code, _ := get(t, handler, path); code != http.StatusOK {
			t.Errorf("%s answers %d", path, code)
		}
	}
	for _, path := range []string{"/debug/pprof/cmdline", "/debug/pprof/environ", "/debug/pprof/heap/cmdline", "/debug/vars"} {
		if code, _ := get(t, handler, path); code != http.StatusNotFound {
			t.Errorf("%s answers %d", path, code)
		}
	}
}

func TestAdminAsAPart(t *testing.T) {
	t.Parallel()
	admin := newAdmin(t, obs.AdminOptions{Addr: "127.0.0.1:0", Metrics: prometheus.NewRegistry(), Ready: &lifecycle.Ready{}})
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
	first := newAdmin(t, obs.AdminOptions{Addr: "127.0.0.1:0", Metrics: prometheus.NewRegistry(), Ready: &lifecycle.Ready{}})
	if err := first.Listen(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer first.Close(t.Context())
	var g lifecycle.Group
	newAdmin(t, obs.AdminOptions{Addr: first.Addr(), Metrics: prometheus.NewRegistry(), Ready: &lifecycle.Ready{}}).AddTo(&g)
	if err := g.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "start admin listener: admin port: listen") {
		t.Errorf("got %v", err)
	}
}
