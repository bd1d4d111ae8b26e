package cli_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
)

// order asks servers in turn until one does not refuse with 503, as a load balancer does.
type order []string

func (o order) RoundTrip(r *http.Request) (resp *http.Response, err error) {
	for _, host := range o {
		try := r.Clone(r.Context())
		try.URL.Host = host
		if resp, err = http.DefaultTransport.RoundTrip(try); err != nil || resp.StatusCode != http.StatusServiceUnavailable {
			break
		}
		_ = resp.Body.Close()
	}
	return resp, err
}

// balance starts a load balancer in front of gateways, and returns its URL.
func balance(t *testing.T, gateways ...string) string {
	t.Helper()
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: gateways[0]})
	proxy.Transport = order(gateways)
	lb := httptest.NewServer(proxy)
	t.Cleanup(lb.Close)
	return lb.URL
}

// A node leaves the gateway that is drained, and is called through it on the other one.
func TestDrain(t *testing.T) {
	t.Parallel()
	c := cluster(t)
	lb := balance(t, c.Gateways[0].HTTP, c.Gateways[1].HTTP)
	n := start(t, nil, "node", "--user", "ana", "--server", lb, "--dir", t.TempDir())
	n.says("connected as node desktop_ana")
	admin := c.Gateways[0].Admin
	code, out, errs := do(t, "drain", "--admin", "http://"+admin, "--wait", "--spread", "100ms")
	if code != 0 || !strings.Contains(out, "draining, connections left: 1") || !strings.Contains(out, "drained in ") {
		t.Fatalf("%d %s%s", code, out, errs)
	}
	testkit.Eventually(t, 30*time.Second, func() bool {
		return strings.Count(n.out.String(), "connected as node desktop_ana") == 2
	}, "the node is connected again")
	for _, g := range c.Gateways {
		if code, out, errs := do(t, "call", "--user", "ana", "--grpc", g.GRPC, "list_directory"); code != 0 {
			t.Errorf("%d %s%s", code, out, errs)
		}
	}
	if code, out, _ := do(t, "drain", "--admin", admin); code != 0 || !strings.Contains(out, "drained in ") || strings.Contains(out, "left") {
		t.Errorf("a second drain: %d %s", code, out)
	}
	if resp, err := http.Get("http://" + admin + "/readyz"); err != nil || resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("the drained gateway is ready: %v, %v", resp, err)
	} else {
		_ = resp.Body.Close()
	}
}

func TestDrainSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	c := cluster(t)
	for name, tt := range map[string]struct {
		args []string
		code int
		says string
	}{
		"nobody named":    {nil, 2, "admin"},
		"nobody there":    {[]string{"--admin", "127.0.0.1:1"}, 1, "refused"},
		"no gateway":      {[]string{"--admin", c.Registry.Admin}, 1, "no admin port of a gateway"},
		"negative spread": {[]string{"--admin", "127.0.0.1:1", "--spread", "-5s"}, 2, "--spread"},
		"no spread":       {[]string{"--admin", "127.0.0.1:1", "--spread", "fast"}, 2, "--spread"},
		"one of two":      {[]string{"--admin", "127.0.0.1:1," + c.Registry.Admin}, 1, c.Registry.Admin},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if code, out, errs := do(t, append([]string{"drain"}, tt.args...)...); code != tt.code || !strings.Contains(errs, tt.says) {
				t.Errorf("%d %s%s", code, out, errs)
			}
		})
	}
}
