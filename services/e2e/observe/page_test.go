package observe_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// object is JSON that tests write.
type object = map[string]any

// metricsPage returns a pod's metrics: in OpenMetrics, the form that has exemplars, or in Prometheus' text.
func metricsPage(t *testing.T, admin string, open bool) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+admin+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	if open {
		req.Header.Set("Accept", "application/openmetrics-text; version=1.0.0")
	}
	req.Close = true
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	page, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s, %v", resp.Status, err)
	}
	return string(page)
}

// exemplar fails unless a metric of a pod has an exemplar of the trace.
func exemplar(t *testing.T, admin, metric, trace string) {
	t.Helper()
	for line := range strings.Lines(metricsPage(t, admin, true)) {
		if strings.HasPrefix(line, metric+"{") && strings.Contains(line, `# {trace_id="`+trace+`"}`) {
			return
		}
	}
	t.Errorf("%s has no exemplar of trace %s", metric, trace)
}
