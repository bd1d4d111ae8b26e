package obs

import (
	"cmp"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// NewRegistry returns a registry for one pod, with the collectors of the Go runtime and of the process, and
// hecaton_build_info, which tells what runs where.
func NewRegistry(pod Pod) *prometheus.Registry {
	reg := prometheus.NewRegistry()
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "hecaton_build_info", Help: "Always 1; which version of which service this pod runs.",
		ConstLabels: prometheus.Labels{"service": pod.Service, "version": cmp.Or(pod.Version, "unknown")},
	})
	build.Set(1)
	reg.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), build)
	return reg
}
