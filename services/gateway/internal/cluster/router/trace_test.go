package router

import (
	"errors"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/envelope"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// A call pays for tracing only where there is some; what its caller sent goes on all the same.
func TestWithoutTracingACallHasNoSpan(t *testing.T) {
	p := &Pending{r: &Router{}}
	failure, err := errs.New(errs.NodeBusy, "busy"), errors.New("away")
	const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	n := testing.AllocsPerRun(100, func() {
		env := envelope.Call{ID: "id", Traceparent: parent}
		p.open(&env, "call tool", "look")
		p.published(&env, 7)(err)
		p.close(failure)
		if env.Traceparent != parent {
			t.Error(env.Traceparent)
		}
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}
