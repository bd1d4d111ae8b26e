package agent

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
)

// Counter counts the runs of all pods that nobody works on (package store).
type Counter interface {
	Count(ctx context.Context, within, grace time.Duration) (store.Census, error)
}

const (
	// scrapeTimeout bounds how long a scrape waits for the database; without an answer the gauges are absent.
	scrapeTimeout = 500 * time.Millisecond
	// orphanedAfter is how many times as long as a lease a run may be without a pod: others look for it every second.
	orphanedAfter = 2
)

// census is a collector that asks the database at each scrape. It counts the whole cluster, so every pod reports the same.
type census struct {
	runs              Counter
	within, grace     time.Duration
	waiting, orphaned *prometheus.Desc
}

// Census returns a collector of the runs of the whole cluster that wait for a person, or for a pod.
func (e *Engine) Census(runs Counter) prometheus.Collector {
	return &census{
		runs: runs, within: e.cfg.DecideWithin, grace: orphanedAfter * e.cfg.LeaseFor,
		waiting: prometheus.NewDesc("hecaton_agent_runs_waiting",
			"Runs of the whole cluster that wait for a person: for a decision, or the choice of a node.", nil, nil),
		orphaned: prometheus.NewDesc("hecaton_agent_runs_orphaned",
			"Runs of the whole cluster whose pod is gone and that none has taken over for twice the time of a lease.", nil, nil),
	}
}

// Describe implements [prometheus.Collector].
func (c *census) Describe(ch chan<- *prometheus.Desc) {
	ch <- c.waiting
	ch <- c.orphaned
}

// Collect implements [prometheus.Collector].
func (c *census) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	n, err := c.runs.Count(ctx, c.within, c.grace)
	if err != nil {
		return // hecaton_agent_storage_errors_total says so
	}
	ch <- prometheus.MustNewConstMetric(c.waiting, prometheus.GaugeValue, float64(n.Waiting))
	ch <- prometheus.MustNewConstMetric(c.orphaned, prometheus.GaugeValue, float64(n.Orphaned))
}
