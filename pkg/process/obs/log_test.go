package obs_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
)

const (
	traceID = "4bf92f3577b34da6a3ce929d0e0e4736"
	spanID  = "00f067aa0ba902b7"
	parent  = "00-" + traceID + "-" + spanID + "-01"
)

func TestLoggerAddsTraceIDs(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := obs.NewLogger(&out, slog.LevelInfo, obs.JSON).With("pod", "a")
	ctx := obs.WithTraceparent(t.Context(), parent)
	log.InfoContext(ctx, "with")
	log.InfoContext(t.Context(), "without")
	log.DebugContext(ctx, "below the level")
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2 {
		t.Fatalf("got %d lines, want 2:\n%s", len(lines), out.String())
	}
	var with, without map[string]any
	for i, into := range []*map[string]any{&with, &without} {
		if err := json.Unmarshal([]byte(lines[i]), into); err != nil {
			t.Fatal(err)
		}
	}
	if with["trace_id"] != traceID || with["span_id"] != spanID || with["pod"] != "a" {
		t.Errorf("got %v", with)
	}
	if _, has := without["trace_id"]; has {
		t.Errorf("got %v", without)
	}
}

func TestLoggerText(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	obs.NewLogger(&out, slog.LevelInfo, obs.Text).WithGroup("g").InfoContext(obs.WithTraceparent(t.Context(), parent), "hello", "k", "v")
	if got := out.String(); !strings.Contains(got, "msg=hello") || !strings.Contains(got, "g.k=v") || !strings.Contains(got, traceID) {
		t.Errorf("got %s", got)
	}
}

func TestOrDiscard(t *testing.T) {
	t.Parallel()
	if obs.OrDiscard(nil).Enabled(t.Context(), slog.LevelError) {
		t.Error("a nil logger is not silent")
	}
	log := slog.New(slog.NewTextHandler(new(bytes.Buffer), nil))
	if obs.OrDiscard(log) != log {
		t.Error("a logger was replaced")
	}
}

func TestLogConfig(t *testing.T) {
	t.Parallel()
	var c obs.LogConfig
	if err := config.Load(&c, config.Sources{Environ: []string{"LOG_LEVEL=warn", "LOG_FORMAT=text"}}); err != nil {
		t.Fatal(err)
	}
	if c.Level != slog.LevelWarn || c.Format != obs.Text {
		t.Errorf("got %+v", c)
	}
	if err := config.Load(new(obs.LogConfig), config.Sources{Environ: []string{"LOG_FORMAT=xml"}}); err == nil {
		t.Error("an unknown format was accepted")
	}
}
