// Package metrics counts what a gateway does. No label names a user or a node, and each has few values that are known
// beforehand, so that a series is there before its first event.
package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/conn"
)

// Metrics are one pod's.
type Metrics struct {
	// Closed counts ended connections by client kind and reason.
	Closed *prometheus.CounterVec
	// Frames counts frames of clients that were not of use, by what was wrong.
	Frames *prometheus.CounterVec
	// LateAnswers counts answers that nobody waited for any more.
	LateAnswers prometheus.Counter
	// ToolsRefused counts definitions of tools that nodes gave and that were not taken.
	ToolsRefused prometheus.Counter
	// PresenceLag measures, in seconds, how long nodes that connect wait until every pod can call them.
	PresenceLag prometheus.Histogram
	// BatchNodes measures how many nodes' heartbeats go to the registry together.
	BatchNodes prometheus.Histogram

	// MCP measures the requests of MCP clients, as OpenTelemetry's conventions want it: mcp.server.operation.duration.
	MCP *prometheus.HistogramVec

	ended   map[errs.Reason]prometheus.Counter // "" is answered
	seconds map[errs.Class]prometheus.Observer // likewise
}

// answered is the outcome of a call that its node answered; the others are the classes of package errs.
const answered = "answered"

// problems are what can be wrong with a client's frame.
var problems = []string{"binary", "malformed", "unknown"}

// New registers the metrics. clients are the kinds of clients that there may be.
func New(r prometheus.Registerer, clients []string) *Metrics {
	m := &Metrics{
		Closed: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "hecaton_gateway_connections_closed_total", Help: "Connections that ended, by kind of client and reason.",
		}, []string{"client", "reason"}),
		Frames: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "hecaton_gateway_frames_rejected_total", Help: "Frames of clients that were malformed, binary or unknown, by problem.",
		}, []string{"problem"}),
		LateAnswers: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "hecaton_gateway_late_answers_total", Help: "Answers of nodes that nobody waited for any more.",
		}),
		ToolsRefused: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "hecaton_gateway_tool_definitions_refused_total", Help: "Definitions of tools that nodes gave and that were not taken.",
		}),
		PresenceLag: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "hecaton_gateway_presence_lag_seconds", Help: "Time from a node's connection until every pod could call it.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}),
		BatchNodes: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "hecaton_gateway_heartbeat_batch_nodes", Help: "Nodes whose heartbeats went to the registry in one batch.",
			Buckets: prometheus.ExponentialBuckets(1, 4, 8), // 1 to 16384
		}),
	}
	m.MCP = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "mcp_server_operation_duration_seconds",
		Help:    "Duration of requests of MCP clients, without streams, by method, version of the protocol, and error.",
		Buckets: []float64{.01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 30, 60, 120, 300},
	}, []string{"mcp_method_name", "mcp_protocol_version", "error_type"})
	r.MustRegister(m.MCP, m.Closed, m.Frames, m.LateAnswers, m.ToolsRefused, m.PresenceLag, m.BatchNodes)
	for _, client := range clients {
		for _, reason := range conn.Reasons() {
			m.Closed.WithLabelValues(client, reason.String())
		}
	}
	for _, problem := range problems {
		m.Frames.WithLabelValues(problem)
	}
	m.countCalls(r)
	return m
}

func (m *Metrics) countCalls(r prometheus.Registerer) {
	calls := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "hecaton_gateway_calls_total",
		Help: "Calls that entered the cluster here and ended, by outcome (answered, not_delivered, unknown) and reason.",
	}, []string{"outcome", "reason"})
	seconds := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "hecaton_gateway_call_duration_seconds", Help: "Duration of calls that entered the cluster here, by outcome.",
		Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60},
	}, []string{"outcome"})
	r.MustRegister(calls, seconds)
	m.ended = map[errs.Reason]prometheus.Counter{"": calls.WithLabelValues(answered, "")}
	for _, reason := range errs.CallReasons() {
		m.ended[reason] = calls.WithLabelValues(string(reason.Class()), string(reason))
	}
	m.seconds = map[errs.Class]prometheus.Observer{"": seconds.WithLabelValues(answered)}
	for _, class := range []errs.Class{errs.NotDelivered, errs.Unknown} {
		m.seconds[class] = seconds.WithLabelValues(string(class))
	}
}

// CallEnded counts a call that ended after took: answered, where err is nil. span is the call's.
func (m *Metrics) CallEnded(span trace.Span, err *errs.Error, took time.Duration) {
	var reason errs.Reason
	var class errs.Class
	if err != nil {
		reason, class = err.Reason, err.Reason.Class()
	}
	if ended := m.ended[reason]; ended != nil { // a newer pod may know more reasons
		ended.Inc()
	}
	obs.ObserveIn(span, m.seconds[class], took.Seconds())
}
