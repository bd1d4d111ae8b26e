package app

import (
	"time"

	"google.golang.org/grpc"

	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/pod/metrics"
)

// service is this service's name in logs, traces and metrics.
const service = "gateway"

// gauge registers a number that is counted when somebody looks.
func (a *App) gauge(name, help string, value func() float64) {
	metrics.Gauge(a.metrics, name, help, value)
}

func (a *App) measureFrames() {
	a.gauge("frame_budget_used_bytes", "Bytes of large frames in flight.", func() float64 { return float64(a.budget.Used()) })
	a.gauge("frame_budget_limit_bytes", "Bytes of large frames that may be in flight; more wait.",
		func() float64 { return float64(a.cfg.InFlight) })
}

func (a *App) measureRouter() {
	a.gauge("remote_calls_open", "Calls that came in here and are open at nodes of other pods.",
		func() float64 { return float64(a.router.Open()) })
}

// attached records how long a node waited until every pod could call it.
func (a *App) attached(took time.Duration) { a.counts.PresenceLag.Observe(took.Seconds()) }

// beaten records how many nodes' heartbeats went to the registry together.
func (a *App) beaten(nodes int) { a.counts.BatchNodes.Observe(float64(nodes)) }

func (a *App) measureRegistry() grpc.DialOption {
	return obs.MeasureClient(a.metrics, "hecaton_gateway_registry_rpc_duration_seconds",
		"Duration of calls to the node-registry, by method and status code.")
}

func (a *App) measureOrchestrator() grpc.DialOption {
	return obs.MeasureClient(a.metrics, "hecaton_gateway_orchestrator_rpc_duration_seconds",
		"Duration of unary calls to agent-orchestrators, by method and status code.")
}
