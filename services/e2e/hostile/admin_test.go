package hostile_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/model/modeltest"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
	gateway "github.com/hecaton-dev/hecaton/services/gateway/app"
)

// admin asks an admin port; headers are pairs.
func admin(t *testing.T, at, method, path string, headers ...string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "http://"+at+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	if host := r.Header.Get("Host"); host != "" {
		r.Host = host
	}
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(raw)
}

// A page that had its name resolve to this machine wants to know how the pods were started, and have them leave.
func TestNoPageReachesAnAdminPort(t *testing.T) {
	t.Parallel()
	const token = "a-token-of-the-operators"
	c := cluster.Start(t, cluster.Options{
		Gateways: 1, Orchestrators: 1, Model: modeltest.New(t).URL(),
		Gateway: func(_ int, c *gateway.Config) { c.AdminDoor.Token = token },
	})
	g := c.Gateways[0]
	_, port, _ := strings.Cut(g.Admin, ":")
	for service, at := range map[string]string{"gateway": g.Admin, "node-registry": c.Registries[0].Admin, "agent-orchestrator": c.Orchestrators[0].Admin} {
		for what, headers := range map[string][]string{
			"a rebound name":               {"Host", "evil.example:" + port},
			"a rebound name of mDNS":       {"Host", "evil.local:" + port, "Origin", "http://evil.local:" + port, "Sec-Fetch-Site", "same-origin"},
			"a rebound single label":       {"Host", "gateway"},
			"a name that looks local":      {"Host", "localhost.evil.example"},
			"an address in another form":   {"Host", "127.1:" + port},
			"a page of another local port": {"Origin", "http://localhost:3000"},
			"a sandboxed frame":            {"Origin", "null"},
			"an extension":                 {"Origin", "chrome-extension://abcdefghijklmnopabcdefghijklmnop"},
			"its pictures":                 {"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "image"},
		} {
			for _, path := range []string{"/metrics", "/livez", "/readyz", "/drain", "/debug/pprof/", "/debug/pprof/heap", "/debug/pprof/profile?seconds=1", "/debug/pprof/cmdline"} {
				if status, body := admin(t, at, http.MethodGet, path, headers...); status != http.StatusForbidden {
					t.Errorf("%s, %s of %s: %d %.200s", what, path, service, status, body)
				}
			}
			if status, body := admin(t, at, http.MethodPost, "/drain", headers...); status != http.StatusForbidden {
				t.Errorf("%s drains the %s: %d %.200s", what, service, status, body)
			}
		}
		for _, path := range []string{"/debug/pprof/cmdline", "/debug/vars"} {
			if status, body := admin(t, at, http.MethodGet, path); status != http.StatusNotFound {
				t.Errorf("%s of %s: %d %.200s", path, service, status, body)
			}
		}
		for _, path := range []string{"/metrics", "/livez", "/readyz", "/debug/pprof/", "/debug/pprof/goroutine?debug=1"} {
			if status, body := admin(t, at, http.MethodGet, path); status != http.StatusOK || strings.Contains(body, token) {
				t.Errorf("a program's %s of %s: %d %.200s", path, service, status, body)
			}
			if status, body := admin(t, at, http.MethodGet, path, "Host", "10.1.2.3:"+port); status != http.StatusOK {
				t.Errorf("a scrape through a translated address, %s of %s: %d %.200s", path, service, status, body)
			}
		}
	}
	// From another machine, as a proxy beside the pod says, a drain takes the token.
	for name, headers := range map[string][]string{
		"no token": {"X-Forwarded-For", "10.0.0.9"}, "a wrong token": {"X-Forwarded-For", "10.0.0.9", "Authorization", "Bearer " + token + "x"},
	} {
		if status, body := admin(t, g.Admin, http.MethodPost, "/drain", headers...); status != http.StatusUnauthorized {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
	if s := g.DrainStatus(t); s.State != "serving" {
		t.Fatalf("the pod is %s", s.State)
	}
	if status, body := admin(t, g.Admin, http.MethodPost, "/drain", "X-Forwarded-For", "10.0.0.9", "Authorization", "Bearer "+token, "Host", "gateway-0:9180"); status != http.StatusAccepted {
		t.Errorf("with the token: %d %s", status, body)
	}
}
