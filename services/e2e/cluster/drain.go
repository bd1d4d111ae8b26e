package cluster

import (
	"encoding/json"
	"io"
	"net/http"
	"testing"
)

// DrainStatus is what the admin port of a gateway tells of a drain.
type DrainStatus struct {
	State           string `json:"state"`
	ConnectionsLeft int    `json:"connections_left"`
	CallsOpen       int    `json:"calls_open"`
}

// Drain begins to drain the gateway, as "hecaton drain" does; query is such as "?spread=1s".
func (g *Gateway) Drain(t testing.TB, query string) DrainStatus {
	t.Helper()
	return g.drain(t, http.MethodPost, query)
}

// DrainStatus returns how far a drain is.
func (g *Gateway) DrainStatus(t testing.TB) DrainStatus {
	t.Helper()
	return g.drain(t, http.MethodGet, "")
}

func (g *Gateway) drain(t testing.TB, method, query string) (s DrainStatus) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://"+g.Admin+"/drain"+query, nil)
	must(t, err)
	resp, err := httpClient.Do(req)
	must(t, err)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	must(t, err)
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatalf("%s /drain%s is answered with %s: %s", method, query, resp.Status, raw)
	}
	return s
}
