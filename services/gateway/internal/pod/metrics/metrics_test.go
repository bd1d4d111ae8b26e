package metrics_test

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/held/hub"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/pod/drain"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/pod/metrics"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/conn"
)

// gather returns the samples of one metric by the values of its labels, joined by spaces.
func gather(t *testing.T, r *prometheus.Registry, name string) map[string]float64 {
	t.Helper()
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	samples := map[string]float64{}
	for _, f := range families {
		if f.GetName() != "hecaton_gateway_"+name {
			continue
		}
		for _, m := range f.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetValue())
			}
			samples[strings.Join(labels, " ")] = m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	return samples
}

func TestEverySeriesIsThereBeforeItsFirstEvent(t *testing.T) {
	t.Parallel()
	r := prometheus.NewRegistry()
	kinds := []string{"viewer", "robot"}
	metrics.New(r, kinds)
	for name, want := range map[string]int{
		"connections_closed_total": len(kinds) * len(conn.Reasons()),
		"frames_rejected_total":    3,
		"calls_total":              1 + len(errs.CallReasons()),
	} {
		if got := gather(t, r, name); len(got) != want {
			t.Errorf("%s has %d series, want %d", name, len(got), want)
		}
	}
}

func TestCallsAreCountedByOutcome(t *testing.T) {
	t.Parallel()
	r := prometheus.NewRegistry()
	m := metrics.New(r, nil)
	m.CallEnded(noop.Span{}, nil, time.Second)
	for _, reason := range []errs.Reason{errs.NodeBusy, errs.ToolTimeout, errs.ToolTimeout, "OF_A_NEWER_POD"} {
		m.CallEnded(noop.Span{}, errs.New(reason, "because"), time.Second)
	}
	got := gather(t, r, "calls_total")
	maps.DeleteFunc(got, func(_ string, n float64) bool { return n == 0 })
	if want := map[string]float64{"answered ": 1, "not_delivered NODE_BUSY": 1, "unknown TOOL_TIMEOUT": 2}; !maps.Equal(got, want) {
		t.Errorf("counted %v, want %v", got, want)
	}
}

// pod is one with known numbers.
type pod struct{ state drain.State }

func (pod) Connections() map[string]int  { return map[string]int{"viewer": 2, "robot": 3} }
func (pod) Counts() *nodev1.GatewayStats { return &nodev1.GatewayStats{PendingRequests: 7} }
func (pod) Backlog() hub.Backlog {
	return hub.Backlog{WaitingCalls: 4, QueuedBytes: 5, Unregistered: 1}
}
func (p pod) Status() drain.Status { return drain.Status{State: p.state, ConnectionsLeft: 5} }
func (pod) Took() time.Duration    { return 1500 * time.Millisecond }

func TestGauges(t *testing.T) {
	t.Parallel()
	for state, left := range map[drain.State]float64{drain.Serving: 0, drain.Draining: 5} {
		r := prometheus.NewRegistry()
		metrics.Gauges(r, []string{"viewer", "robot", "nobody"}, pod{state}, pod{state})
		for name, want := range map[string]map[string]float64{
			"connections":        {"viewer": 2, "robot": 3, "nobody": 0},
			"connections_open":   {"": 5},
			"calls_open":         {"": 7},
			"calls_waiting":      {"": 4},
			"write_queue_bytes":  {"": 5},
			"nodes_unregistered": {"": 1},
			"drain_state":        {"": float64(state)},
			"drain_connections":  {"": left},
			"drain_seconds":      {"": 1.5},
		} {
			if got := gather(t, r, name); !maps.Equal(got, want) {
				t.Errorf("%s: %s is %v, want %v", state, name, got, want)
			}
		}
	}
}
