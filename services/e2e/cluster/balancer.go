package cluster

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
)

// Balancer returns the address of a proxy that sends each request to another pod than the one before, in the name of user.
func Balancer(t testing.TB, user string, pods ...*Gateway) (addr string) {
	t.Helper()
	var n atomic.Int64
	s := httptest.NewServer(&httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(&url.URL{Scheme: "http", Host: pods[int(n.Add(1))%len(pods)].HTTP})
		r.Out.Host = r.In.Host
		r.Out.Header.Set("X-User-Id", user)
	}, ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }})
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}
