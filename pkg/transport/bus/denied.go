package bus

import (
	"errors"
	"log/slog"
	"sync/atomic"

	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"
)

// Denied counts what a connection tried and the bus did not allow. NATS reports a refusal later and keeps the connection, so
// without a count a call would just seem lost.
type Denied struct{ count atomic.Int64 }

// Handler returns what [nats.ErrorHandler] wants: it counts and logs what was not allowed, and logs the rest.
func (d *Denied) Handler(log *slog.Logger) nats.ErrHandler {
	return func(_ *nats.Conn, _ *nats.Subscription, err error) {
		if !d.note(err, log) {
			log.Warn("bus", "error", err)
		}
	}
}

// note reports whether err says that something was not allowed.
func (d *Denied) note(err error, log *slog.Logger) bool {
	if !errors.Is(err, nats.ErrPermissionViolation) {
		return false
	}
	d.count.Add(1)
	log.Error("NATS refused what this service does: give its user the permissions of this version", "error", err)
	return true
}

// Measure registers the count.
func (d *Denied) Measure(reg prometheus.Registerer, service string) {
	reg.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "hecaton_bus_denied_total", Help: "Publishes and subscriptions that the bus did not allow this pod.",
		ConstLabels: prometheus.Labels{"service": service},
	}, func() float64 { return float64(d.count.Load()) }))
}
