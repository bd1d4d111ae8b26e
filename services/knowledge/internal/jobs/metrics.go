package jobs

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

type metrics struct {
	ended   *prometheus.CounterVec
	seconds prometheus.Histogram
}

func newMetrics(o Options) *metrics {
	m := &metrics{
		ended: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "hecaton_knowledge_documents_total",
			Help: "Ends of work on documents, by result: completed, failed, postponed, embedded (anew), lost or released.",
		}, []string{"result"}),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "hecaton_knowledge_document_duration_seconds", Help: "Time from the claim of a document to its end in the index.",
			Buckets: prometheus.ExponentialBuckets(0.02, 2, 14), // to 164 s
		}),
	}
	for _, result := range []string{"completed", "failed", "postponed", "embedded", "lost", "released"} {
		m.ended.WithLabelValues(result) // so that the first of a kind is an increase
	}
	if o.Metrics == nil {
		return m
	}
	depth := prometheus.NewDesc("hecaton_knowledge_queue_documents", "Documents to be processed, by state: waiting or claimed. All pods report the same.",
		[]string{"state"}, nil)
	o.Metrics.MustRegister(m.ended, m.seconds, &depths{o, depth})
	return m
}

// depths reads the queue when it is asked.
type depths struct {
	o    Options
	desc *prometheus.Desc
}

func (d *depths) Describe(to chan<- *prometheus.Desc) { to <- d.desc }

func (d *depths) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	waiting, claimed, err := d.o.Store.Depths(ctx)
	if err != nil {
		return
	}
	to <- prometheus.MustNewConstMetric(d.desc, prometheus.GaugeValue, float64(waiting), "waiting")
	to <- prometheus.MustNewConstMetric(d.desc, prometheus.GaugeValue, float64(claimed), "claimed")
}
