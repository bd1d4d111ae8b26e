package cluster

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// Metric reads a sample of the pod's /metrics by its full name, labels included; 0 where it is missing.
func (p *Pod) Metric(t testing.TB, name string) float64 {
	t.Helper()
	return metric(t, p.Admin, name)
}

func metric(t testing.TB, admin, name string) float64 {
	t.Helper()
	resp, err := httpClient.Get("http://" + admin + "/metrics")
	must(t, err)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	must(t, err)
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("/metrics answers %d", resp.StatusCode)
	}
	for line := range strings.Lines(string(raw)) {
		value, ok := strings.CutPrefix(strings.TrimSpace(line), name+" ")
		if !ok {
			continue
		}
		v, err := strconv.ParseFloat(value, 64)
		must(t, err)
		return v
	}
	return 0
}

// OpenCalls returns how many calls wait or run at the nodes of the gateway.
func (g *Gateway) OpenCalls(t testing.TB) int {
	t.Helper()
	return int(g.Metric(t, "hecaton_gateway_calls_open"))
}

// Ready reports whether the gateway says that it is.
func (g *Gateway) Ready(t testing.TB) bool {
	t.Helper()
	resp, err := httpClient.Get("http://" + g.Admin + "/readyz")
	must(t, err)
	defer resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}
