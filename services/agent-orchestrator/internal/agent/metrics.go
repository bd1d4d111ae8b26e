package agent

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/llm"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

// metrics count what the runs of a pod do. No label names a user, a session or a tool.
type metrics struct {
	active       prometheus.Gauge
	ends         *prometheus.CounterVec
	steps        prometheus.Counter
	calls        *prometheus.CounterVec
	asks         *prometheus.CounterVec
	askSeconds   prometheus.Histogram
	firstSeconds prometheus.Histogram
	adoptions    prometheus.Counter
	summaries    prometheus.Counter
}

func newMetrics(r prometheus.Registerer) *metrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: "hecaton_agent_" + name, Help: help})
	}
	counters := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "hecaton_agent_" + name, Help: help}, labels)
	}
	seconds := func(name, help string) prometheus.Histogram {
		return prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "hecaton_agent_" + name, Help: help,
			Buckets: []float64{.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120},
		})
	}
	m := &metrics{
		active:       prometheus.NewGauge(prometheus.GaugeOpts{Name: "hecaton_agent_runs_active", Help: "Runs that this pod works on."}),
		ends:         counters("runs_ended_total", "Runs that ended here, or wait for a person, by finish_reason.", "finish_reason"),
		steps:        counter("steps_total", "Answers of models that became part of a conversation."),
		calls:        counters("calls_total", "Calls of tools, by layer and outcome: answered, error (the tool's own) or what became of the call.", "layer", "outcome"),
		asks:         counters("model_requests_total", "Questions to models, by how they ended: answered, stopped (by us) or the code.", "outcome"),
		askSeconds:   seconds("model_seconds", "Duration of whole answers of models."),
		firstSeconds: seconds("model_first_piece_seconds", "Time until the first piece of an answer."),
		adoptions:    counter("adoptions_total", "Runs taken over from pods that were gone."),
		summaries:    counter("summaries_total", "Conversations that were summarised."),
	}
	for _, reason := range []string{finishStop, finishInterrupt, finishCancelled, finishMaxSteps, finishError} {
		m.ends.WithLabelValues(reason)
	}
	if r != nil {
		r.MustRegister(m.active, m.ends, m.steps, m.calls, m.asks, m.askSeconds, m.firstSeconds, m.adoptions, m.summaries)
	}
	return m
}

func (m *metrics) ended(reason string) { m.ends.WithLabelValues(reason).Inc() }

func (m *metrics) called(layer tool.Layer, out outcome) {
	how := "answered"
	switch {
	case out.failure != nil:
		how = out.failure.Outcome
	case out.result.IsError:
		how = "error"
	}
	m.calls.WithLabelValues(string(layer), how).Inc()
}

// asked counts a question; first is when the first piece came, zero where none did.
func (m *metrics) asked(began, first time.Time, err error) {
	if !first.IsZero() {
		m.firstSeconds.Observe(first.Sub(began).Seconds())
	}
	var failed *llm.Error
	switch {
	case err == nil:
		m.asks.WithLabelValues("answered").Inc()
		m.askSeconds.Observe(time.Since(began).Seconds())
	case errors.As(err, &failed):
		m.asks.WithLabelValues(string(failed.Code)).Inc()
	default:
		m.asks.WithLabelValues("stopped").Inc()
	}
}
