package rolling_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// balancer is a load balancer as one is set up in front of gateways: requests go in turn to those that are ready, where
// readiness is looked at every now and then; a refused connection, or a socket that is refused with 503, goes to the next.
// What was sent is never sent again.
type balancer struct {
	transport *http.Transport
	backends  []*backend
	turn      atomic.Int64
	host      string
}

type backend struct {
	host, admin string
	ready       atomic.Bool
}

// lookEvery is much less than the drain delay of the tests.
const lookEvery = 100 * time.Millisecond

func balance(t *testing.T, gateways ...*cluster.Gateway) *balancer {
	t.Helper()
	b := &balancer{transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	for _, g := range gateways {
		b.backends = append(b.backends, &backend{host: g.HTTP, admin: g.Admin})
	}
	proxy := &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.Out.URL.Scheme, r.Out.URL.Host = "http", "gateways" },
		Transport: b, FlushInterval: -1, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError), // its client tells
	}
	server := httptest.NewServer(proxy)
	b.host = strings.TrimPrefix(server.URL, "http://")
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan struct{})
	b.look(ctx)
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			b.look(ctx)
			select {
			case <-time.After(lookEvery):
			case <-ctx.Done():
			}
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
		server.CloseClientConnections()
		server.Close()
		b.transport.CloseIdleConnections()
	})
	return b
}

func (b *balancer) look(ctx context.Context) {
	for _, backend := range b.backends {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+backend.admin+"/readyz", nil)
		if err != nil {
			continue
		}
		resp, err := b.transport.RoundTrip(req)
		backend.ready.Store(err == nil && resp.StatusCode == http.StatusOK)
		if err == nil {
			_ = resp.Body.Close()
		}
	}
}

// RoundTrip implements [http.RoundTripper].
func (b *balancer) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		_ = r.Body.Close()
	}
	var resp *http.Response
	err := errors.New("no gateway is ready")
	for _, backend := range b.inTurn() {
		try := r.Clone(r.Context())
		try.URL.Host = backend.host
		if r.Body != nil {
			try.Body = io.NopCloser(bytes.NewReader(body))
		}
		resp, err = b.transport.RoundTrip(try)
		var dial *net.OpError
		switch {
		case errors.As(err, &dial) && dial.Op == "dial":
		case err == nil && resp.StatusCode == http.StatusServiceUnavailable && r.Header.Get("Upgrade") != "":
			_ = resp.Body.Close()
			err = errors.New("every gateway refuses sockets")
		default:
			return resp, err
		}
	}
	return nil, err
}

func (b *balancer) inTurn() []*backend {
	first := int(b.turn.Add(1))
	var ready []*backend
	for i := range b.backends {
		if backend := b.backends[(first+i)%len(b.backends)]; backend.ready.Load() {
			ready = append(ready, backend)
		}
	}
	return ready
}

// gateway is the balancer as clients see it.
func (b *balancer) gateway() *cluster.Gateway { return &cluster.Gateway{HTTP: b.host} }
