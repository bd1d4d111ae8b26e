package cluster

import (
	"encoding/json"
	"io"
	"net/http"
	"testing"
	"time"
)

var httpClient = &http.Client{Timeout: 90 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}

func do(t testing.TB, req *http.Request) Response {
	t.Helper()
	resp, err := httpClient.Do(req)
	must(t, err)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	must(t, err)
	r := Response{Status: resp.StatusCode, Type: resp.Header.Get("Content-Type"), Raw: string(raw), Header: resp.Header}
	_ = json.Unmarshal(raw, &r.Body) // bodies that are no object stay raw
	return r
}

// Get is Do without a body.
func (g *Gateway) Get(t testing.TB, path, user string) Response {
	t.Helper()
	return g.Do(t, http.MethodGet, path, user, "", nil)
}

// Post is Do with a body.
func (g *Gateway) Post(t testing.TB, path, user, body string) Response {
	t.Helper()
	return g.Do(t, http.MethodPost, path, user, body, nil)
}
