package toolclient_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/pkg/tool/toolclient"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
)

// got reports whether a gateway was given a call of this tool.
func got(g *gateway, tool string) bool {
	return slices.ContainsFunc(g.seen(), func(c *toolv1.Call) bool { return c.GetToolName() == tool })
}

// A gateway that is paused keeps its connection. Calls that it has wait; new ones go to the others, until it is heard of.
func TestAGatewayThatSaysNothingIsAskedLast(t *testing.T) {
	t.Parallel()
	paused := make(chan struct{})
	a := serve(t, "a", func(r *received) {
		if r.call.GetToolName() == "slow" {
			<-paused
		}
		answers(r)
	})
	b := serve(t, "b", answers)
	c := dial(t, toolclient.Patience{}, a, b)
	var waits <-chan outcome
	for n := 1; !got(a, "slow"); n++ { // the other one may come first
		waits = calling(t.Context(), c, call("slow"))
		testkit.Eventually(t, 5*time.Second, func() bool { return total(a, b) == n }, "the call arrives")
	}
	quick := func() bool { // ten calls in a row are answered soon
		for range 10 {
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			_, err := c.Call(ctx, call("x"))
			cancel()
			if err != nil {
				return false
			}
		}
		return true
	}
	testkit.Eventually(t, 15*time.Second, quick, "calls go to the other gateway")
	select {
	case got := <-waits:
		t.Errorf("the call of the paused gateway ended: %v", got.err)
	default:
	}
	close(paused)
	if got := <-waits; got.err != nil {
		t.Errorf("the call that waited: %v", got.err)
	}
	before := len(a.seen())
	testkit.Eventually(t, 5*time.Second, func() bool { return quick() && len(a.seen()) > before }, "it gets calls again")
}

// Silence counts only while something is owed.
func TestAGatewayWhoseCallWasGivenUpIsAskedAgain(t *testing.T) {
	t.Parallel()
	g := serve(t, "gw", func(r *received) {
		if r.call.GetToolName() != "lost" {
			answers(r)
		}
	})
	other := serve(t, "other", answers)
	c := dial(t, toolclient.Patience{}, g, other)
	for !got(g, "lost") {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second) // longer than silence is borne
		_, _ = c.Call(ctx, call("lost"))                               // the other gateway answers
		cancel()
	}
	before := len(g.seen())
	testkit.Eventually(t, 5*time.Second, func() bool {
		_, err := c.Call(t.Context(), call("x"))
		return err == nil && len(g.seen()) > before
	}, "it gets calls again")
}
