package bus_test

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
)

func TestMeasureTellsOfAnOutage(t *testing.T) {
	t.Parallel()
	server := testkit.OwnNATS(t)
	c := connect(t, server.URL())
	reg := prometheus.NewRegistry()
	c.Measure(reg, "test")
	is := func(connected, reconnects string) bool {
		want := `
# HELP hecaton_bus_connected 1 while this pod is connected to the bus, else 0.
# TYPE hecaton_bus_connected gauge
hecaton_bus_connected{service="test"} ` + connected + `
# HELP hecaton_bus_reconnects_total Times this pod came back to the bus.
# TYPE hecaton_bus_reconnects_total counter
hecaton_bus_reconnects_total{service="test"} ` + reconnects + "\n"
		return testutil.GatherAndCompare(reg, strings.NewReader(want), "hecaton_bus_connected", "hecaton_bus_reconnects_total") == nil
	}
	if !is("1", "0") {
		t.Error("not connected at the beginning")
	}
	server.Stop()
	testkit.Eventually(t, 10*time.Second, func() bool { return is("0", "0") }, "the outage shows")
	server.Start()
	testkit.Eventually(t, 10*time.Second, func() bool { return is("1", "1") }, "the return shows")
	if err := c.Publish("x", []byte("four")); err != nil {
		t.Fatal(err)
	}
	if n := testutil.CollectAndCount(reg, "hecaton_bus_messages_total"); n != 2 {
		t.Errorf("%d directions", n)
	}
}
