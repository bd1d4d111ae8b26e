package store_test

import (
	"errors"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/process/config"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store/storetest"
)

func TestCount(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s := open()
		for i, id := range []string{"works", "left", "waits"} {
			b := beginning("run")
			b.Session, b.Run = session(i), id
			lease, _ := begin(t, s, b)
			switch id {
			case "left":
				must(t, s.Release(t.Context(), []store.Lease{lease}), nil)
			case "waits":
				end := &store.End{FinishReason: "interrupt", Interrupt: &agentv1.Interrupt{InterruptId: "i"}}
				must(t, s.Commit(t.Context(), lease, store.Change{End: end}), nil)
			}
		}
		for _, tt := range []struct {
			within, grace time.Duration
			want          store.Census
		}{
			{time.Hour, 0, store.Census{Waiting: 1, Orphaned: 1}},
			{-time.Hour, 0, store.Census{Orphaned: 1}}, // none began to wait in the future
		} {
			if got, err := s.Count(t.Context(), tt.within, tt.grace); err != nil || got != tt.want {
				t.Errorf("within %v, grace %v: %+v, %v", tt.within, tt.grace, got, err)
			}
		}
	})
}

func TestTransactionsAreMeasured(t *testing.T) {
	t.Parallel()
	reg := prometheus.NewRegistry()
	s, err := store.Open(t.Context(), store.Options{URL: config.Secret("sqlite://" + t.TempDir() + "/a.db"), Metrics: reg})
	if err != nil {
		t.Fatal(err)
	}
	b := beginning("run")
	begin(t, s, b)
	b.Run = "second"
	if _, _, err := s.Begin(t.Context(), b); !errors.Is(err, errs.RunActive) {
		t.Errorf("a second run began: %v", err)
	}
	if n := testutil.CollectAndCount(reg, "hecaton_agent_storage_duration_seconds"); n != 2 {
		t.Errorf("%d operations", n)
	}
	failed := func() (sum float64) {
		families, err := reg.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range families {
			if f.GetName() == "hecaton_agent_storage_errors_total" {
				for _, m := range f.GetMetric() {
					sum += m.GetCounter().GetValue()
				}
			}
		}
		return sum
	}
	if n := failed(); n != 0 {
		t.Errorf("%v failures, where an answer was no", n)
	}
	must(t, s.Close(), nil)
	if _, err := s.Count(t.Context(), time.Hour, 0); err == nil || failed() != 1 {
		t.Errorf("after the end: %v, %v failures", err, failed())
	}
}
