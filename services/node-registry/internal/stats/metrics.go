package stats

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// scrapeTimeout bounds how long a scrape waits for the store; without an answer the two gauges are absent.
const scrapeTimeout = 500 * time.Millisecond

// Measure registers the sums as gauges of the whole cluster: every replica tells the same.
func (t *Totals) Measure(reg prometheus.Registerer) {
	reg.MustRegister(&meter{
		totals: t,
		nodes: prometheus.NewDesc("hecaton_registry_nodes_live",
			"Nodes that are connected anywhere in the cluster, by type, as the gateways report them.", []string{"type"}, nil),
		gateways: prometheus.NewDesc("hecaton_registry_gateways_live", "Gateways that report to the registry.", nil, nil),
	})
}

// meter is a collector that asks when somebody looks.
type meter struct {
	totals          *Totals
	nodes, gateways *prometheus.Desc
}

// Describe implements [prometheus.Collector].
func (m *meter) Describe(ch chan<- *prometheus.Desc) {
	ch <- m.nodes
	ch <- m.gateways
}

// Collect implements [prometheus.Collector].
func (m *meter) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	sums, err := m.totals.Get(ctx)
	if err != nil {
		return // hecaton_redis_errors_total says so
	}
	gauge := func(d *prometheus.Desc, value int32, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(value), labels...)
	}
	gauge(m.nodes, sums.GetTotal().GetExtensionConnections(), "extension")
	gauge(m.nodes, sums.GetTotal().GetDesktopConnections(), "desktop")
	gauge(m.gateways, sums.GetGateways())
}
