package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hecaton-dev/hecaton/services/gateway/internal/pod/drain"
)

// Drained tells how far a pod's drain is.
type Drained interface {
	Status() drain.Status
	// Took is how long the drain took, or takes so far; 0 where none has begun.
	Took() time.Duration
}

func drainGauges(r prometheus.Registerer, job Drained) {
	Gauge(r, "drain_state", "How far a drain is: 0 nobody drains the pod, 1 it drains, 2 it is drained.",
		func() float64 { return float64(job.Status().State) })
	Gauge(r, "drain_connections", "Connections that the drain in progress has still to close.", func() float64 {
		if s := job.Status(); s.State != drain.Serving {
			return float64(s.ConnectionsLeft)
		}
		return 0
	})
	Gauge(r, "drain_seconds", "How long the drain took, or takes so far; 0 before one.",
		func() float64 { return job.Took().Seconds() })
}
