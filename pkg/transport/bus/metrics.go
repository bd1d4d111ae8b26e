package bus

import (
	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"
)

// Measure registers what can be told of a connection to the bus when somebody asks: whether it is there, and what went
// over it. It serves the connections of [Connect] and others.
func Measure(reg prometheus.Registerer, service string, nc *nats.Conn) {
	reg.MustRegister(newMeter(service, nc))
}

// Measure registers what [Measure] does, and how often this pod did not keep up.
func (c *Conn) Measure(reg prometheus.Registerer, service string) {
	Measure(reg, service, c.Conn)
	reg.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "hecaton_bus_overruns_total", Help: "Times the bus dropped messages because this pod did not keep up.",
		ConstLabels: prometheus.Labels{"service": service},
	}, func() float64 { return float64(c.overruns.Load()) }))
	c.denied.Measure(reg, service)
}

// meter is a collector over one connection.
type meter struct {
	nc                                      *nats.Conn
	connected, reconnects, messages, volume *prometheus.Desc
}

func newMeter(service string, nc *nats.Conn) *meter {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("hecaton_bus_"+name, help, labels, prometheus.Labels{"service": service})
	}
	return &meter{
		nc:         nc,
		connected:  desc("connected", "1 while this pod is connected to the bus, else 0."),
		reconnects: desc("reconnects_total", "Times this pod came back to the bus."),
		messages:   desc("messages_total", "Messages over the bus, by direction: in or out.", "direction"),
		volume:     desc("bytes_total", "Payloads over the bus in bytes, by direction: in or out.", "direction"),
	}
}

// Describe implements [prometheus.Collector].
func (m *meter) Describe(ch chan<- *prometheus.Desc) {
	ch <- m.connected
	ch <- m.reconnects
	ch <- m.messages
	ch <- m.volume
}

// Collect implements [prometheus.Collector].
func (m *meter) Collect(ch chan<- prometheus.Metric) {
	up := 0.0
	if m.nc.IsConnected() {
		up = 1
	}
	stats := m.nc.Stats()
	ch <- prometheus.MustNewConstMetric(m.connected, prometheus.GaugeValue, up)
	count := func(d *prometheus.Desc, value uint64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(value), labels...)
	}
	count(m.reconnects, stats.Reconnects)
	count(m.messages, stats.InMsgs, "in")
	count(m.messages, stats.OutMsgs, "out")
	count(m.volume, stats.InBytes, "in")
	count(m.volume, stats.OutBytes, "out")
}
