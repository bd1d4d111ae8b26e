package identity_test

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/security/access"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/pkg/transport/embedded"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
	gateway "github.com/hecaton-dev/hecaton/services/gateway/app"
	registry "github.com/hecaton-dev/hecaton/services/node-registry/app"
)

// Every connection between the parts is TLS with certificates on both sides, large answers from pod to pod among them, and
// nothing is different for users.
func TestWholeClusterOverTLS(t *testing.T) {
	t.Parallel()
	ca := testkit.NewAuthority(t)
	bus := secureBus(t, ca)
	url := func(s access.Service) config.Secret {
		return config.Secret(testkit.As(s, "nats://"+bus.Addr().String()))
	}
	services := func(name string) auth.ServiceAuth {
		files := ca.Issue(name) // the name in all certificates, as with cert-manager
		return auth.ServiceAuth{Cert: files.Cert, Key: files.Key, CA: files.CA, ServerName: name}
	}
	shown := services("hecaton.default")
	c := cluster.Start(t, cluster.Options{
		NATSURL: "nats://" + bus.Addr().String(),
		Gateway: func(_ int, c *gateway.Config) {
			c.NATSURL, c.NATSTLS, c.Services = url(access.Gateway), ca.Issue("gateway"), shown
		},
		Registry: func(c *registry.Config) {
			c.NATSURL, c.NATSTLS, c.Services = url(access.NodeRegistry), ca.Issue("node-registry"), shown
		},
	})
	const size = 1 << 20
	node := c.Gateways[0].Desktop(t, "ana", "desk")
	node.Silent()
	node.Serve(func(cluster.ToolCall) string { return cluster.Text(strings.Repeat("x", size)) })
	const heard = `hecaton_bus_bytes_total{direction="in",service="gateway"}`
	ask := func() float64 {
		before := c.Gateways[1].Metric(t, heard)
		got := c.Gateways[1].Post(t, "/api/node/desktop/tool", "ana", `{"tool_name":"t","node_id":"desk"}`)
		if got.Status != http.StatusOK || len(fmt.Sprint(got.Body)) < size {
			t.Fatalf("%d, %v", got.Status, got.Body)
		}
		return c.Gateways[1].Metric(t, heard) - before
	}
	if took := ask(); took < size { // the first one asks for the link, and cannot wait for it
		t.Fatalf("%v bytes over the bus", took)
	}
	testkit.Eventually(t, 40*time.Second, func() bool { return ask() < size }, "answers come straight from the other pod")
	// Who shows no certificate is not talked to.
	for name, addr := range map[string]string{"gateway": c.Gateways[0].GRPC, "registry": c.Registries[0].Addr} {
		if nc, err := tls.Dial("tcp", addr, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}}); err == nil {
			_, err = fmt.Fprint(nc, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
			if err == nil {
				_, err = nc.Read(make([]byte, 1))
			}
			_ = nc.Close()
			if err == nil {
				t.Errorf("%s talks to a stranger", name)
			}
		}
	}
}

func secureBus(t *testing.T, ca *testkit.Authority) *server.Server {
	t.Helper()
	config, err := ca.Issue("nats").Server()
	if err != nil {
		t.Fatal(err)
	}
	o := &server.Options{Host: "127.0.0.1", Port: -1, NoSigs: true, NoLog: true, TLSConfig: config, TLSTimeout: 5}
	passwords := access.Passwords{}
	for _, s := range access.Services {
		passwords[s] = testkit.Password(s)
	}
	embedded.Admission{Passwords: passwords}.Apply(o)
	s, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("no server")
	}
	return s
}
