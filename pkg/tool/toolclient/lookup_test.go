package toolclient_test

import (
	"crypto/x509"
	"net"
	"net/http/httptest"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/pkg/tool/toolclient"
)

// serveAt starts a gateway at another loopback address, on the port of the first.
func serveAt(t *testing.T, ip string, first *gateway) *gateway {
	t.Helper()
	_, port, err := net.SplitHostPort(first.addr)
	if err != nil {
		t.Fatal(err)
	}
	g := &gateway{t: t, name: ip, script: first.script, addr: net.JoinHostPort(ip, port)}
	if l, err := net.Listen("tcp", g.addr); err != nil {
		t.Skipf("%s is not an address of this machine: %v", ip, err)
	} else if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	g.start()
	t.Cleanup(g.kill)
	return g
}

// Each address of a name is a gateway; they come, go, and stay while the name cannot be looked up.
func TestLookup(t *testing.T) {
	t.Parallel()
	a := serve(t, "a", answers)
	_, port, _ := net.SplitHostPort(a.addr)
	b := serveAt(t, "127.0.0.2", a)
	names := &lookups{names: map[string][]string{"gateways": {"127.0.0.1"}}}
	c := dialWith(t, toolclient.Options{Targets: []string{"dns:///gateways:" + port}, Dial: plain, Lookup: names.lookup}, 1)
	names.set("gateways", "127.0.0.1", "127.0.0.2")
	toolclient.Look(c)
	testkit.Eventually(t, 5*time.Second, func() bool { return toolclient.Up(c) == 2 }, "the second gateway is found")
	for range 10 {
		if _, err := c.Call(t.Context(), call("x")); err != nil {
			t.Fatal(err)
		}
	}
	if len(a.seen()) != 5 || len(b.seen()) != 5 {
		t.Errorf("%d and %d of 10 calls", len(a.seen()), len(b.seen()))
	}

	names.set("gateways") // cannot be looked up
	before := names.count()
	toolclient.Look(c)
	testkit.Eventually(t, 5*time.Second, func() bool { return names.count() > before }, "the name is looked up")
	if _, err := c.Call(t.Context(), call("x")); err != nil || toolclient.Up(c) != 2 {
		t.Errorf("%d gateways are left, %v", toolclient.Up(c), err)
	}

	// A gateway that is not named any more keeps the calls it has.
	blocked := make(chan *received, 1)
	b.setScript(func(r *received) { blocked <- r })
	var done <-chan outcome
	var held *received
	testkit.Eventually(t, 5*time.Second, func() bool {
		done = calling(t.Context(), c, call("x"))
		select {
		case held = <-blocked:
			return true
		case <-done:
			return false
		}
	}, "a call reaches the second gateway")
	names.set("gateways", "127.0.0.1")
	toolclient.Look(c)
	testkit.Eventually(t, 5*time.Second, func() bool { return toolclient.Up(c) == 1 }, "the second gateway is left")
	held.answer("{}")
	if got := <-done; got.err != nil {
		t.Error(got.err)
	}
	b.drain() // which would wait for a client that holds on
}

func TestLookupFails(t *testing.T) {
	t.Parallel()
	names := &lookups{names: map[string][]string{}}
	c := dialWith(t, toolclient.Options{Targets: []string{"gateways:1"}, Dial: plain, Lookup: names.lookup, Patience: brief}, 0)
	if _, err := c.Call(t.Context(), call("x")); err == nil {
		t.Error("a call without gateways succeeds")
	}
	if err := c.Ready(t.Context()); err == nil {
		t.Error("ready without gateways")
	}
}

// A gateway found by its name proves that name.
func TestCertificateOfTheName(t *testing.T) {
	t.Parallel()
	certified := httptest.NewTLSServer(nil) // has a certificate for example.com
	t.Cleanup(certified.Close)
	g := serve(t, "gw", answers, grpc.Creds(credentials.NewServerTLSFromCert(&certified.TLS.Certificates[0])))
	_, port, _ := net.SplitHostPort(g.addr)
	authorities := x509.NewCertPool()
	authorities.AddCert(certified.Certificate())
	for name, up := range map[string]int{"example.com": 1, "example.org": 0} {
		c := dialWith(t, toolclient.Options{
			Targets: []string{name + ":" + port}, Patience: brief,
			Dial:   []grpc.DialOption{grpc.WithTransportCredentials(credentials.NewClientTLSFromCert(authorities, ""))},
			Lookup: (&lookups{names: map[string][]string{name: {"127.0.0.1"}}}).lookup,
		}, up)
		if _, err := c.Call(t.Context(), call("x")); (err == nil) != (up == 1) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
