package hostile_test

import (
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/model/modeltest"
	orchestrator "github.com/hecaton-dev/hecaton/services/agent-orchestrator/app"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// nameWithin returns a name that resolves on this machine, without a query to others, to an address that is not public.
func nameWithin(t *testing.T) string {
	t.Helper()
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{host, "ip6-localhost", "ip6-loopback", "localhost.localdomain"} {
		found, err := net.DefaultResolver.LookupHost(t.Context(), name)
		if err != nil || len(found) == 0 {
			continue
		}
		if ip, err := netip.ParseAddr(found[0]); err == nil && (ip.IsLoopback() || ip.IsPrivate()) {
			return name
		}
	}
	t.Fatal("no name of this machine leads to itself")
	return ""
}

// A user tries MCP servers under one name after the other, to find out which names exist inside the cluster.
func TestNamesInsideCannotBeToldFromNone(t *testing.T) {
	t.Parallel()
	g := cluster.Start(t, cluster.Options{
		Gateways: 1, Orchestrators: 1, Model: modeltest.New(t).URL(),
		Orchestrator: func(_ int, c *orchestrator.Config) { c.Addresses.Private = false },
	}).Gateways[0]
	within, nowhere := nameWithin(t), "nobody.onion" // which no resolver asks for
	for _, transport := range []string{"streamable_http", "sse"} {
		for _, port := range []string{"1", "443"} {
			ask := func(host string) string {
				r := g.Post(t, validate, "u", `{"name":"x","transport_type":"`+transport+`","base_url":"https://`+host+`:`+port+`/mcp"}`)
				if r.Status != http.StatusOK || r.Body["success"] != false {
					t.Errorf("%s: %d %s", host, r.Status, r.Raw)
				}
				return strings.ReplaceAll(r.Raw, host, "HOST")
			}
			if a, b := ask(within), ask(nowhere); a != b {
				t.Errorf("%s is answered %s, %s %s", within, a, nowhere, b)
			}
		}
	}
}

// Error messages about a part of the cluster that is unreachable contain no address of it.
func TestWhatIsAwayIsNotNamed(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Gateways: 1})
	g := c.Gateways[0]
	registry := c.Registries[0].Addr
	c.Registries[0].Stop(t)
	for _, r := range []cluster.Response{
		g.Get(t, "/api/node/devices", "u"), g.Get(t, "/api/node/session/s", "u"), g.Get(t, "/api/node/stats", "u"),
		g.Post(t, "/api/node/bind", "u", `{"session_id":"s","node_id":"n"}`), g.Post(t, "/api/node/desktop/tool", "u", `{"tool_name":"t"}`),
	} {
		if r.Body["reason"] != "BUS_UNAVAILABLE" {
			t.Errorf("%d %s", r.Status, r.Raw)
		}
		for _, leak := range []string{registry, "127.0.0.1", "rpc error", "dial", "connection", "desc"} {
			if strings.Contains(r.Raw, leak) {
				t.Errorf("%s tells of %q", r.Raw, leak)
			}
		}
	}
}
