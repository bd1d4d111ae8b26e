package toolclient_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/pkg/tool/toolclient"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
)

// brief keeps tests short that wait for patience to end.
var brief = toolclient.Patience{NotConnected: 300 * time.Millisecond, Busy: 300 * time.Millisecond, Unavailable: 300 * time.Millisecond}

func total(gateways ...*gateway) (n int) {
	for _, g := range gateways {
		n += len(g.seen())
	}
	return n
}

// What does not heal by itself, and what may have happened, is not tried again.
func TestOneTryOnly(t *testing.T) {
	t.Parallel()
	for _, reason := range errs.CallReasons() {
		switch reason {
		case errs.NodeNotConnected, errs.NodeBusy, errs.BusUnavailable, errs.Draining:
			continue
		}
		t.Run(string(reason), func(t *testing.T) {
			t.Parallel()
			a, b := serve(t, "a", fails(reason)), serve(t, "b", fails(reason))
			c := dial(t, toolclient.Patience{}, a, b)
			if _, err := c.Call(t.Context(), call("x")); !errors.Is(err, reason) {
				t.Errorf("got %v", err)
			}
			if n := total(a, b); n != 1 {
				t.Errorf("%d tries", n)
			}
		})
	}
}

// A connection that is gone does not come back: whoever named it looks for the node again.
func TestAConnectionThatIsGoneIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	g := serve(t, "gw", fails(errs.NodeNotConnected))
	c := dial(t, toolclient.Patience{}, g)
	named := call("x")
	named.NodeId, named.Epoch = "n", 7
	if _, err := c.Call(t.Context(), named); !errors.Is(err, errs.NodeNotConnected) || total(g) != 1 {
		t.Errorf("%v, %d tries", err, total(g))
	}
}

// A reason that this client does not know yet is read with caution.
func TestUnknownReason(t *testing.T) {
	t.Parallel()
	g := serve(t, "gw", func(r *received) {
		f := errs.New("ON_FIRE", "new").Failure()
		r.refuse(f)
	})
	c := dial(t, toolclient.Patience{}, g)
	if _, err := c.Call(t.Context(), call("x")); errs.Retryable(err) || !errors.Is(err, errs.Reason("ON_FIRE")) {
		t.Errorf("got %v", err)
	}
	if n := total(g); n != 1 {
		t.Errorf("%d tries", n)
	}
}

// What heals by itself is tried until patience ends, and no longer.
func TestPatience(t *testing.T) {
	t.Parallel()
	for _, reason := range []errs.Reason{errs.NodeNotConnected, errs.NodeBusy, errs.BusUnavailable, errs.Draining} {
		t.Run(string(reason), func(t *testing.T) {
			t.Parallel()
			a, b := serve(t, "a", fails(reason)), serve(t, "b", fails(reason))
			c := dial(t, brief, a, b)
			began := time.Now()
			_, err := c.Call(t.Context(), call("x"))
			if took := time.Since(began); !errors.Is(err, reason) || took < 250*time.Millisecond || took > 5*time.Second {
				t.Errorf("after %v: %v", took, err)
			}
			if n := total(a, b); n < 3 || n > 20 {
				t.Errorf("%d tries", n)
			}
		})
	}
	t.Run("none", func(t *testing.T) {
		t.Parallel()
		g := serve(t, "gw", fails(errs.NodeNotConnected))
		c := dial(t, toolclient.Patience{NotConnected: -1}, g)
		if _, err := c.Call(t.Context(), call("x")); !errors.Is(err, errs.NodeNotConnected) || total(g) != 1 {
			t.Errorf("%d tries, %v", total(g), err)
		}
	})
}

// A node that comes back is found.
func TestNodeComesBack(t *testing.T) {
	t.Parallel()
	for _, reason := range []errs.Reason{errs.NodeNotConnected, errs.NodeBusy} {
		t.Run(string(reason), func(t *testing.T) {
			t.Parallel()
			g := serve(t, "gw", func(r *received) {
				if r.nth < 4 {
					r.fail(reason)
					return
				}
				answers(r)
			})
			c := dial(t, toolclient.Patience{}, g)
			if _, err := c.Call(t.Context(), call("x")); err != nil {
				t.Error(err)
			}
			if n := total(g); n != 4 {
				t.Errorf("%d tries", n)
			}
			// Each try has the time that is left.
			first, last := g.seen()[0].GetTimeout().AsDuration(), g.seen()[3].GetTimeout().AsDuration()
			if d := first - last; d < 100*time.Millisecond || d > 5*time.Second {
				t.Errorf("timeouts: %v, then %v", first, last)
			}
		})
	}
}

// One gateway that drains, or has no bus, costs a call no waiting, and later calls not even the detour.
func TestAnotherGatewayAtOnce(t *testing.T) {
	t.Parallel()
	for _, reason := range []errs.Reason{errs.Draining, errs.BusUnavailable} {
		t.Run(string(reason), func(t *testing.T) {
			t.Parallel()
			bad, good := serve(t, "bad", fails(reason)), serve(t, "good", answers)
			// Without patience and without a budget: moving on is neither.
			c := dial(t, toolclient.Patience{Unavailable: -1}, bad, good)
			toolclient.Spend(c, -1e6)
			for range 20 {
				answer, err := c.Call(t.Context(), call("x"))
				if err != nil || answer.GetNodeId() != "good" {
					t.Fatal(err)
				}
			}
			if n := len(bad.seen()); n != 1 {
				t.Errorf("the bad gateway was asked %d times", n)
			}
		})
	}
}

// The deadline of the call ends every patience, and what is known is said.
func TestDeadlineEndsPatience(t *testing.T) {
	t.Parallel()
	g := serve(t, "gw", fails(errs.NodeNotConnected))
	c := dial(t, toolclient.Patience{NotConnected: time.Hour}, g)
	short := call("x")
	short.Timeout = durationpb.New(300 * time.Millisecond)
	began := time.Now()
	_, err := c.Call(t.Context(), short)
	if took := time.Since(began); !errors.Is(err, errs.NodeNotConnected) || took > 5*time.Second {
		t.Errorf("after %v: %v", took, err)
	}

	ctx, cancel := context.WithCancel(t.Context())
	done := calling(ctx, c, call("x"))
	testkit.Eventually(t, 5*time.Second, func() bool { return len(g.seen()) > 5 }, "the call is tried again")
	cancel()
	if got := <-done; got.err == nil {
		t.Error("a caller who gave up got an answer")
	}
}

func TestBudget(t *testing.T) {
	t.Parallel()
	g := serve(t, "gw", fails(errs.NodeNotConnected))
	c := dial(t, toolclient.Patience{}, g)
	toolclient.Spend(c, -1e6)
	if _, err := c.Call(t.Context(), call("x")); !errors.Is(err, errs.NodeNotConnected) || total(g) != 1 {
		t.Errorf("without a budget: %d tries, %v", total(g), err)
	}
	toolclient.Spend(c, -1e6)
	drains := serve(t, "drains", fails(errs.Draining))
	c = dial(t, toolclient.Patience{}, drains)
	toolclient.Spend(c, -1e6)
	if _, err := c.Call(t.Context(), call("x")); !errors.Is(err, errs.Draining) || total(drains) != 1 {
		t.Errorf("without a budget: %d tries, %v", total(drains), err)
	}
}

func TestSelectionIsPassedOn(t *testing.T) {
	t.Parallel()
	g := serve(t, "gw", func(r *received) {
		e := errs.New(errs.RequiresSelection, "choose")
		e.Nodes = []*nodev1.Node{{Info: &nodev1.NodeInfo{NodeId: "one"}}, {Info: &nodev1.NodeInfo{NodeId: "two"}}}
		r.refuse(e.Failure())
	})
	c := dial(t, toolclient.Patience{}, g)
	_, err := c.Call(t.Context(), call("x"))
	var e *errs.Error
	if !errors.As(err, &e) || len(e.Nodes) != 2 || e.Nodes[1].GetInfo().GetNodeId() != "two" {
		t.Errorf("got %v", err)
	}
}
