package holder

import (
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/envelope"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// A call pays for tracing only where there is some.
func TestWithoutTracingACallIsNotWrapped(t *testing.T) {
	h := &Holder{}
	const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	n := testing.AllocsPerRun(100, func() {
		c := envelope.Call{ID: "id", Traceparent: parent}
		h.received(&c, 7).End()
		if got := h.onSocket(&c, nil); got != nil || c.Traceparent != parent {
			t.Errorf("%v, %s", got, c.Traceparent)
		}
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}
