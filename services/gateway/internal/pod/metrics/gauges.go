package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/held/hub"
)

// Held tells what a pod holds.
type Held interface {
	Connections() map[string]int
	Counts() *nodev1.GatewayStats
	Backlog() hub.Backlog
}

// Gauges registers what is counted when somebody looks: what a pod holds, and how far its drain is. clients are the kinds of
// clients that there may be.
func Gauges(r prometheus.Registerer, clients []string, held Held, job Drained) {
	drainGauges(r, job)
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("hecaton_gateway_"+name, help, labels, nil)
	}
	r.MustRegister(&gauges{
		held:         held,
		clients:      clients,
		connections:  desc("connections", "Open connections, by kind of client.", "client"),
		open:         desc("connections_open", "Open connections of all kinds: one number for who scales by it."),
		calls:        desc("calls_open", "Calls that run or wait at nodes of this pod."),
		waiting:      desc("calls_waiting", "Calls that wait for a place at nodes of this pod; they are among those open."),
		queued:       desc("write_queue_bytes", "Bytes that wait to be written to clients of this pod."),
		unregistered: desc("nodes_unregistered", "Nodes that this pod holds and the registry does not know of yet."),
	})
}

// Gauge registers one more number.
func Gauge(r prometheus.Registerer, name, help string, value func() float64) {
	r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "hecaton_gateway_" + name, Help: help}, value))
}

// gauges is a collector: one look at the pod makes all of them.
type gauges struct {
	held                                                    Held
	clients                                                 []string
	connections, open, calls, waiting, queued, unregistered *prometheus.Desc
}

// Describe implements [prometheus.Collector].
func (g *gauges) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{g.connections, g.open, g.calls, g.waiting, g.queued, g.unregistered} {
		ch <- d
	}
}

// Collect implements [prometheus.Collector].
func (g *gauges) Collect(ch chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	open, backlog := g.held.Connections(), g.held.Backlog()
	all := 0
	for _, client := range g.clients {
		gauge(g.connections, float64(open[client]), client)
		all += open[client]
	}
	gauge(g.open, float64(all))
	gauge(g.calls, float64(g.held.Counts().GetPendingRequests()))
	gauge(g.waiting, float64(backlog.WaitingCalls))
	gauge(g.queued, float64(backlog.QueuedBytes))
	gauge(g.unregistered, float64(backlog.Unregistered))
}
