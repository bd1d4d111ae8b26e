package faults_test

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/hecaton-dev/hecaton/pkg/security/access"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// bus is three NATS servers that are one cluster, as deploy/compose configures them. Pods and servers reach each of them
// through proxies, so that one can hang: it keeps its connections and says nothing.
type bus struct {
	servers []*server.Server
	doors   []*cluster.Proxy   // of server i, for pods
	routes  [][]*cluster.Proxy // routes[i][j]: on which server i connects to server j
}

func startBus(t *testing.T) *bus {
	t.Helper()
	const size = 3
	b := &bus{routes: make([][]*cluster.Proxy, size)}
	var ports []int
	for range size {
		ports = append(ports, testkit.FreePort())
	}
	for i := range size {
		o := busConfig(t)
		o.ServerName, o.NoSigs, o.NoLog = fmt.Sprint("nats-", i), true, true
		o.Host, o.Port, o.HTTPPort = "127.0.0.1", server.RANDOM_PORT, 0
		o.Cluster.Host, o.Cluster.Port = "127.0.0.1", ports[i]
		o.Cluster.NoAdvertise = true // of addresses that are not a proxy's
		o.Routes = nil
		b.routes[i] = make([]*cluster.Proxy, size)
		for j := range size {
			if j != i {
				b.routes[i][j] = cluster.NewProxy(t, fmt.Sprint("127.0.0.1:", ports[j]))
				o.Routes = append(o.Routes, &url.URL{Scheme: "nats", User: url.UserPassword(o.Cluster.Username, o.Cluster.Password), Host: b.routes[i][j].Addr()})
			}
		}
		s, err := server.NewServer(o)
		if err != nil {
			t.Fatal(err)
		}
		s.Start()
		t.Cleanup(func() {
			s.Shutdown()
			s.WaitForShutdown()
		})
		if !s.ReadyForConnections(10 * time.Second) {
			t.Fatal("a NATS server does not start")
		}
		b.servers = append(b.servers, s)
		b.doors = append(b.doors, cluster.NewProxy(t, s.Addr().String()))
	}
	soon(t, b.whole, "the NATS servers are a cluster")
	return b
}

// busConfig is that of docker-compose.yml, with the services' users.
func busConfig(t *testing.T) *server.Options {
	t.Helper()
	passwords.Do(func() {
		for _, s := range access.Services {
			_ = os.Setenv("NATS_"+s.Variable()+"_PASSWORD", testkit.Password(s)) // the name is one
		}
		_ = os.Setenv("NATS_ROUTE_PASSWORD", "route")
		_ = os.Setenv("NATS_ROUTES", "[]")
	})
	dir := t.TempDir()
	for name, from := range map[string]string{"nats.conf": "compose/nats.conf", access.NATSFile: "helm/hecaton/files/" + access.NATSFile} {
		text, err := os.ReadFile("../../../deploy/" + from)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	o, err := server.ProcessConfigFile(filepath.Join(dir, "nats.conf"))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// passwords has them put once where the configuration looks for them.
var passwords sync.Once

func (b *bus) url() string {
	var urls []string
	for _, p := range b.doors {
		urls = append(urls, "nats://"+p.Addr())
	}
	return strings.Join(urls, ",")
}

// whole reports whether every server has the two others.
func (b *bus) whole() bool {
	for _, s := range b.servers {
		others := map[string]bool{}
		z, err := s.Routez(nil)
		if err != nil {
			return false
		}
		for _, r := range z.Routes {
			others[r.RemoteID] = true
		}
		if len(others) != len(b.servers)-1 {
			return false
		}
	}
	return true
}

// of returns all ways to a server, and from it.
func (b *bus) of(i int) []*cluster.Proxy {
	all := []*cluster.Proxy{b.doors[i]}
	for j := range b.servers {
		if j != i {
			all = append(all, b.routes[i][j], b.routes[j][i])
		}
	}
	return all
}

// One server after the other hangs. Pods leave it, and the others forget who was there: a server that still counted those
// would hand it every other call.
func TestEachServerOfTheBusHangsInTurn(t *testing.T) {
	t.Parallel()
	b := startBus(t)
	c := cluster.Start(t, cluster.Options{Gateways: 3, NATSURL: b.url()})
	l := &cluster.Ledger{User: "u", NodeOf: func(n int) string { return fmt.Sprint("n", n%3) }}
	for i, g := range c.Gateways {
		n := g.Extension(t, "u", fmt.Sprint("n", i))
		n.Silent()
		n.Serve(l.See)
	}
	well := func() bool { // ten times each, since a bad server would be chosen now and then only
		for n := range 90 {
			if got := cluster.Unary(t.Context(), c.Gateways[n%3], call("u", fmt.Sprint("n", n/3%3))); got.Reason != "" || got.Err != nil {
				return false
			}
		}
		return true
	}
	soon(t, well, "calls are answered")
	stop := l.Load(t.Context(), 8, func(n, attempt int) (cluster.Way, *cluster.Gateway) {
		return cluster.Ways[n%4], c.Gateways[(n/4+attempt)%3]
	})
	for i := range b.servers {
		for _, p := range b.of(i) {
			p.Freeze()
		}
		began := time.Now()
		testkit.Eventually(t, 40*time.Second, well, "calls are answered again while server %d hangs", i)
		t.Logf("server %d hangs: all calls are answered again after %v", i, time.Since(began).Round(time.Millisecond))
		for _, p := range b.of(i) {
			p.Heal()
		}
		soon(t, b.whole, "the servers are a cluster again")
		soon(t, well, "calls are answered afterwards")
	}
	stop()
	l.Check(t, "HOLDER_LOST")
}
