package obs_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/process/lifecycle"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
)

// settings are some program's configuration.
type settings struct {
	AdminAddr string        `conf:"admin-addr" env:"ADMIN_ADDR" default:":9180" help:"address of health"`
	Key       config.Secret `conf:"key,required" env:"KEY" help:"what the program needs beside"`
}

func healthcheck(t *testing.T, environ []string, args ...string) error {
	t.Helper()
	return obs.Healthcheck(t.Context(), config.Sources{Program: "some", Args: args, Environ: environ, Help: new(bytes.Buffer)},
		func(s *settings) string { return s.AdminAddr })
}

func TestHealthcheck(t *testing.T) {
	t.Parallel()
	ready := lifecycle.NewReady("redis")
	admin := newAdmin(t, obs.AdminOptions{Addr: "127.0.0.1:0", Metrics: prometheus.NewRegistry(), Ready: ready})
	if err := admin.Listen(t.Context()); err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- admin.Serve(t.Context()) }()
	t.Cleanup(func() {
		if err := admin.Shutdown(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	// The proxy of the environment has no business between a program and itself.
	environ := []string{"ADMIN_ADDR=" + admin.Addr(), "KEY=k", "HTTP_PROXY=http://127.0.0.1:1"}

	err := healthcheck(t, environ)
	if err == nil || !strings.Contains(err.Error(), "503") || !strings.Contains(err.Error(), "redis") {
		t.Errorf("a program that is not ready: %v", err)
	}
	if err := healthcheck(t, environ, "--live"); err != nil {
		t.Errorf("it is alive: %v", err)
	}
	ready.Set("redis", nil)
	if err := healthcheck(t, environ); err != nil {
		t.Errorf("it is ready: %v", err)
	}
	// An address of all interfaces is also this machine's own.
	_, port, _ := strings.Cut(admin.Addr(), ":")
	for _, host := range []string{"", "0.0.0.0", "[::]"} {
		if err := healthcheck(t, environ, "--admin-addr", host+":"+port); err != nil {
			t.Errorf("at %q: %v", host, err)
		}
	}
}

func TestHealthcheckCannotAsk(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		environ, args []string
		want          string
	}{
		"nobody listens":     {environ: []string{"KEY=k", "ADMIN_ADDR=127.0.0.1:1"}, want: "refused"},
		"no port":            {environ: []string{"KEY=k", "ADMIN_ADDR=127.0.0.1"}, want: "names no port"},
		"a port of chance":   {environ: []string{"KEY=k", "ADMIN_ADDR=127.0.0.1:0"}, want: "names no port"},
		"the program's flaw": {environ: []string{"ADMIN_ADDR=127.0.0.1:1"}, want: "--key (KEY) is required"},
		"an unknown flag":    {environ: []string{"KEY=k"}, args: []string{"--life"}, want: "--live"},
	} {
		if err := healthcheck(t, tt.environ, tt.args...); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
	var help bytes.Buffer
	err := obs.Healthcheck(t.Context(), config.Sources{Program: "some", Args: []string{"--help"}, Help: &help},
		func(s *settings) string { return s.AdminAddr })
	if !errors.Is(err, config.ErrHelp) || !strings.Contains(help.String(), "some healthcheck [flags]") || !strings.Contains(help.String(), "--live") {
		t.Errorf("%v: %s", err, &help)
	}
}
