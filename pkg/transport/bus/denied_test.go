package bus_test

import (
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/hecaton-dev/hecaton/pkg/security/access"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
	"github.com/hecaton-dev/hecaton/pkg/transport/embedded"
)

// counter is a log that counts lines with a word.
type counter struct {
	word  string
	lines atomic.Int64
}

func (c *counter) Write(line []byte) (int, error) {
	if strings.Contains(string(line), c.word) {
		c.lines.Add(1)
	}
	return len(line), nil
}

// What the bus does not allow is counted and told, and the connection stays. Credentials that are not taken for a while, as
// when they are exchanged, do not end it either.
func TestDenied(t *testing.T) {
	t.Parallel()
	n, err := embedded.StartNATS("127.0.0.1:0", embedded.Admission{Passwords: access.Passwords{access.NodeRegistry: "word"}})
	if err != nil {
		t.Fatal(err)
	}
	refused := &counter{word: "authorization violation"}
	c, err := bus.Connect(t.Context(), bus.Options{
		URL: n.URLFor(access.NodeRegistry), Service: access.NodeRegistry, Logger: slog.New(slog.NewTextHandler(refused, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	reg := prometheus.NewRegistry()
	c.Measure(reg, "test")
	if err := c.Publish("hecaton.web.ana", nil); err != nil {
		t.Fatal(err)
	}
	want := "# HELP hecaton_bus_denied_total Publishes and subscriptions that the bus did not allow this pod.\n" +
		"# TYPE hecaton_bus_denied_total counter\nhecaton_bus_denied_total{service=\"test\"} 1\n"
	testkit.Eventually(t, 5*time.Second, func() bool {
		return testutil.GatherAndCompare(reg, strings.NewReader(want), "hecaton_bus_denied_total") == nil
	}, "what was not allowed is counted")
	if said := n.Denied(); len(said) != 1 || !strings.Contains(said[0], "hecaton.web.ana") || !c.Up() {
		t.Errorf("the server says %q", said)
	}
	addr := n.Addr()
	n.Close()
	if n, err = embedded.StartNATS(addr, embedded.Admission{Passwords: access.Passwords{access.NodeRegistry: "another"}}); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, 20*time.Second, func() bool { return refused.lines.Load() > 3 }, "it keeps trying")
	n.Close()
	if n, err = embedded.StartNATS(addr, embedded.Admission{Passwords: access.Passwords{access.NodeRegistry: "word"}}); err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	testkit.Eventually(t, 20*time.Second, c.Up, "it is back once its password is taken")
}

// While servers take one password after the other, a service finds the one that takes its own, also after it was lost.
func TestServersOfTwoPasswords(t *testing.T) {
	t.Parallel()
	serve := func(addr, password string) *embedded.NATS {
		n, err := embedded.StartNATS(addr, embedded.Admission{Passwords: access.Passwords{access.Gateway: password}})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	before, after := serve("127.0.0.1:0", "before"), serve("127.0.0.1:0", "after")
	defer before.Close()
	c, err := bus.Connect(t.Context(), bus.Options{
		URL: "nats://gateway:after@" + before.Addr() + ",nats://gateway:after@" + after.Addr(), Service: access.Gateway,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	back := make(chan struct{}, 1)
	c.OnReconnect(func() { back <- struct{}{} })
	addr := after.Addr()
	after.Close()
	after = serve(addr, "after")
	defer after.Close()
	select {
	case <-back:
	case <-time.After(20 * time.Second):
		t.Fatal("it does not come back")
	}
}
