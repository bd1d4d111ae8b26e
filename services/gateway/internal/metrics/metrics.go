// Package metrics counts what a gateway does. No label names a user or a node.
package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/conn"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/drain"
)

// Metrics are one pod's.
type Metrics struct {
	// Closed counts ended connections by client kind and reason.
	Closed *prometheus.CounterVec
	// Frames counts frames of clients that were not of use, by what was wrong.
	Frames *prometheus.CounterVec
	// Calls counts calls that entered the cluster here, by how they ended: "answered" or the reason.
	Calls *prometheus.CounterVec
	// LateAnswers counts answers that nobody waited for any more.
	LateAnswers prometheus.Counter
	// CallSeconds measures answered calls.
	CallSeconds prometheus.Histogram

	answered prometheus.Counter
	failed   map[errs.Reason]prometheus.Counter
}

// New registers the metrics.
func New(r prometheus.Registerer) *Metrics {
	m := &Metrics{
		Closed: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "hecaton_gateway_connections_closed_total", Help: "Connections that ended, by kind of client and reason.",
		}, []string{"client", "reason"}),
		Frames: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "hecaton_gateway_frames_rejected_total", Help: "Frames of clients that were malformed, binary or unknown.",
		}, []string{"problem"}),
		Calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "hecaton_gateway_calls_total", Help: "Calls that entered the cluster here, by how they ended.",
		}, []string{"outcome"}),
		LateAnswers: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "hecaton_gateway_late_answers_total", Help: "Answers of nodes that nobody waited for any more.",
		}),
		CallSeconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "hecaton_gateway_call_seconds", Help: "Duration of answered calls.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60},
		}),
	}
	r.MustRegister(m.Closed, m.Frames, m.Calls, m.LateAnswers, m.CallSeconds)
	for _, client := range []string{"extension", "desktop", "web"} {
		for _, reason := range conn.Reasons() {
			m.Closed.WithLabelValues(client, reason.String())
		}
	}
	m.answered = m.Calls.WithLabelValues("answered")
	m.failed = make(map[errs.Reason]prometheus.Counter)
	for _, reason := range errs.Reasons() {
		m.failed[reason] = m.Calls.WithLabelValues(string(reason))
	}
	return m
}

// CallEnded counts a call that ended after took: answered, where err is nil.
func (m *Metrics) CallEnded(err *errs.Error, took time.Duration) {
	if err == nil {
		m.answered.Inc()
		m.CallSeconds.Observe(took.Seconds())
		return
	}
	if c := m.failed[err.Reason]; c != nil {
		c.Inc()
	}
}

// Counter counts what a pod holds.
type Counter interface{ Counts() *nodev1.GatewayStats }

// Gauges registers what is counted when somebody looks: what c holds, and how far a drain is.
func Gauges(r prometheus.Registerer, c Counter, d *drain.Job) {
	progress := func(name, help string, value func() float64) {
		r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value))
	}
	progress("hecaton_gateway_drain_state", "How far a drain is: 0 nobody drains the pod, 1 it drains, 2 it is drained.",
		func() float64 { return float64(d.Status().State) })
	progress("hecaton_gateway_drain_connections", "Connections that the drain in progress has still to close.", func() float64 {
		if s := d.Status(); s.State != drain.Serving {
			return float64(s.ConnectionsLeft)
		}
		return 0
	})
	progress("hecaton_gateway_drain_seconds", "How long the drain took, or takes so far; 0 before one.",
		func() float64 { return d.Took().Seconds() })
	gauge := func(name, help string, labels prometheus.Labels, value func(*nodev1.GatewayStats) int32) {
		r.MustRegister(prometheus.NewGaugeFunc(
			prometheus.GaugeOpts{Name: name, Help: help, ConstLabels: labels},
			func() float64 { return float64(value(c.Counts())) },
		))
	}
	const name, help = "hecaton_gateway_connections", "Open connections."
	gauge(name, help, prometheus.Labels{"client": "extension"}, (*nodev1.GatewayStats).GetExtensionConnections)
	gauge(name, help, prometheus.Labels{"client": "desktop"}, (*nodev1.GatewayStats).GetDesktopConnections)
	gauge(name, help, prometheus.Labels{"client": "web"}, (*nodev1.GatewayStats).GetWebConnections)
	gauge("hecaton_gateway_calls_open", "Calls open at nodes of this pod.", nil, (*nodev1.GatewayStats).GetPendingRequests)
}
