package agent

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/agent/journal"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/llm"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

// metrics count what the runs of a pod do. No label names a user, a session or a tool.
type metrics struct {
	active       prometheus.Gauge
	starts       *prometheus.CounterVec
	ends         *prometheus.CounterVec
	steps        prometheus.Counter
	calls        *prometheus.CounterVec
	callSeconds  *prometheus.HistogramVec
	asks         *prometheus.CounterVec
	askSeconds   prometheus.Histogram
	firstSeconds prometheus.Histogram
	headStarts   *prometheus.CounterVec
	adoptions    prometheus.Counter
	summaries    prometheus.Counter
	lost         prometheus.Counter
	unrenewed    prometheus.Counter
}

// How a run comes to a pod.
const (
	causeInvoke = "invoke"
	causeResume = "resume"
)

// How a request to a model ends, besides the codes of package llm.
const (
	askAnswered = "answered"
	askStopped  = "stopped"
)

// What becomes of a question that was asked before its run had begun.
const (
	headStartTaken = "taken"
	headStartWrong = "wrong"
)

func newMetrics(r prometheus.Registerer, limit int) *metrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: "hecaton_agent_" + name, Help: help})
	}
	counters := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "hecaton_agent_" + name, Help: help}, labels)
	}
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Name: "hecaton_agent_" + name, Help: help})
	}
	seconds := func(name, help string) prometheus.HistogramOpts {
		return prometheus.HistogramOpts{
			Name: "hecaton_agent_" + name, Help: help,
			Buckets: []float64{.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120},
		}
	}
	m := &metrics{
		active: gauge("runs_active", "Runs that this pod works on."),
		starts: counters("runs_started_total", "Runs that requests began, or went on with after a decision, by cause: invoke or resume.", "cause"),
		ends:   counters("runs_ended_total", "Runs that ended here, or wait for a person, by finish_reason.", "finish_reason"),
		steps:  counter("steps_total", "Answers of models that became part of a conversation."),
		calls: counters("tool_calls_total",
			"Calls of tools, by layer and outcome: answered, error (the tool's own) or what became of the call.", "layer", "outcome"),
		callSeconds:  prometheus.NewHistogramVec(seconds("tool_call_duration_seconds", "Duration of calls of tools, by layer."), []string{"layer"}),
		asks:         counters("model_requests_total", "Questions to models, by outcome: answered, stopped (by us) or the error's code.", "outcome"),
		askSeconds:   prometheus.NewHistogram(seconds("model_request_duration_seconds", "Duration of whole answers of models.")),
		firstSeconds: prometheus.NewHistogram(seconds("model_first_token_seconds", "Time until the first piece of a model's answer.")),
		headStarts: counters("model_head_starts_total",
			"First questions of runs that were asked before the run had begun, by outcome: taken over, or wrong.", "outcome"),
		adoptions: counter("runs_adopted_total", "Runs taken over from pods that were gone."),
		summaries: counter("summaries_total", "Conversations that were summarised."),
		lost:      counter("leases_lost_total", "Runs that this pod was at work on when another took them, or their session was deleted."),
		unrenewed: counter("lease_renewals_failed_total", "Times the leases of this pod's runs could not be renewed."),
	}
	m.expect()
	if r != nil {
		most := gauge("runs_limit", "Runs that this pod works on at most.")
		most.Set(float64(limit))
		r.MustRegister(m.active, most, m.starts, m.ends, m.steps, m.calls, m.callSeconds, m.asks, m.askSeconds, m.firstSeconds,
			m.headStarts, m.adoptions, m.summaries, m.lost, m.unrenewed)
	}
	return m
}

// expect makes the series that exist before their first event.
func (m *metrics) expect() {
	for _, cause := range []string{causeInvoke, causeResume} {
		m.starts.WithLabelValues(cause)
	}
	for _, reason := range []string{journal.FinishStop, journal.FinishInterrupt, journal.FinishCancelled, journal.FinishMaxSteps, journal.FinishError} {
		m.ends.WithLabelValues(reason)
	}
	for _, outcome := range []string{
		askAnswered, askStopped, string(llm.Unauthorized), string(llm.RateLimited), string(llm.ContextOverflow),
		string(llm.InputTooLong), string(llm.ModelUnavailable), string(llm.ModelProtocol),
	} {
		m.asks.WithLabelValues(outcome)
	}
	for _, outcome := range []string{headStartTaken, headStartWrong} {
		m.headStarts.WithLabelValues(outcome)
	}
	for _, layer := range []tool.Layer{tool.Builtin, tool.MCP, tool.OAuth, tool.Connector} {
		m.callSeconds.WithLabelValues(string(layer))
		for _, outcome := range []string{callAnswered, callError, tool.NotDelivered, tool.Unknown} {
			m.calls.WithLabelValues(string(layer), outcome)
		}
	}
}

func (m *metrics) ended(reason string) { m.ends.WithLabelValues(reason).Inc() }

func (m *metrics) called(ctx context.Context, layer tool.Layer, began time.Time, out outcome) {
	m.calls.WithLabelValues(string(layer), out.name()).Inc()
	obs.Observe(ctx, m.callSeconds.WithLabelValues(string(layer)), time.Since(began).Seconds())
}

// asked counts a request to a model; first is when the first piece came, zero where none did.
func (m *metrics) asked(ctx context.Context, began, first time.Time, err error) {
	if !first.IsZero() {
		obs.Observe(ctx, m.firstSeconds, first.Sub(began).Seconds())
	}
	m.asks.WithLabelValues(requestOutcome(err)).Inc()
	if err == nil {
		obs.Observe(ctx, m.askSeconds, time.Since(began).Seconds())
	}
}

// requestOutcome is how a request to a model ended, in one word.
func requestOutcome(err error) string {
	var failed *llm.Error
	switch {
	case err == nil:
		return askAnswered
	case errors.As(err, &failed):
		return string(failed.Code)
	}
	return askStopped
}
