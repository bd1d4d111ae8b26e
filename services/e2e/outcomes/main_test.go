package outcomes_test

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

func TestMain(m *testing.M) { cluster.Main(m) }

const (
	extension = nodev1.NodeType_NODE_TYPE_EXTENSION
	desktop   = nodev1.NodeType_NODE_TYPE_DESKTOP
)

// rows is the table of docs/architecture.md#what-every-call-promises, with their statuses: 409, 429 and 503
// for what was not delivered, 504 for an unknown outcome.
var rows = map[string]struct {
	outcome string
	http    int
	code    codes.Code
}{
	"NODE_NOT_CONNECTED": {"not_delivered", 409, codes.FailedPrecondition},
	"NODE_BUSY":          {"not_delivered", 429, codes.ResourceExhausted},
	"REQUIRES_SELECTION": {"not_delivered", 409, codes.FailedPrecondition},
	"TOOL_NOT_OFFERED":   {"not_delivered", 409, codes.FailedPrecondition},
	"TOO_LARGE":          {"not_delivered", 409, codes.InvalidArgument},
	"BUS_UNAVAILABLE":    {"not_delivered", 503, codes.Unavailable},
	"DRAINING":           {"not_delivered", 503, codes.Unavailable},
	"TOOL_TIMEOUT":       {"unknown", 504, codes.DeadlineExceeded},
	"NODE_DISCONNECTED":  {"unknown", 504, codes.Aborted},
	"HOLDER_LOST":        {"unknown", 504, codes.Aborted},
	"CANCELLED":          {"unknown", 504, codes.Canceled},
}

// expect fails unless the call ended with this reason, told as this way tells it.
func expect(t *testing.T, way string, got cluster.Ended, reason string) {
	t.Helper()
	want := rows[reason]
	switch {
	case got.Err != nil, got.Reason != reason, got.Outcome != want.outcome, got.Message == "":
		t.Errorf("%s: %v, want %s", way, got, reason)
	case got.HTTP != 0 && (got.HTTP != want.http || got.Type != "application/problem+json"):
		t.Errorf("%s: HTTP %d with %s, want %d with a problem", way, got.HTTP, got.Type, want.http)
	case got.Domain != "" && (got.Domain != "hecaton.dev" || got.Code != want.code):
		t.Errorf("%s: %s of domain %q, want %s", way, got.Code, got.Domain, want.code)
	}
}

// answered fails unless the node's text came back.
func answered(t *testing.T, way string, got cluster.Ended) {
	t.Helper()
	if got.Err != nil || got.Reason != "" || got.JSON == "" {
		t.Errorf("%s: %v, want an answer", way, got)
	}
}

// everyWay makes the same call at once in every way through every gateway, and hands each end to check.
func everyWay(t *testing.T, gateways []*cluster.Gateway, call *toolv1.Call, check func(way string, got cluster.Ended)) {
	t.Helper()
	var mu sync.Mutex
	var calls sync.WaitGroup
	for i, g := range gateways {
		for _, w := range cluster.Ways {
			calls.Go(func() {
				got := w.Call(t.Context(), g, call)
				mu.Lock()
				defer mu.Unlock()
				check(w.Name+" through gateway "+strconv.Itoa(i), got)
			})
		}
	}
	calls.Wait()
}

// node connects an extension and returns once every pod can call it: a socket is read only when its node is held.
func node(t *testing.T, g *cluster.Gateway, user, id string) *cluster.Client {
	t.Helper()
	n := g.Extension(t, user, id)
	n.Silent()
	return n
}

// call names a node and a tool that every test's nodes offer.
func call(user, node string, timeout time.Duration) *toolv1.Call {
	return &toolv1.Call{UserId: user, NodeId: node, ToolName: "click", Timeout: durationpb.New(timeout)}
}

// numbered is a call that the node can tell apart.
func numbered(c *toolv1.Call, n int) *toolv1.Call {
	c.ArgumentsJson = []byte(`{"n":` + strconv.Itoa(n) + `}`)
	return c
}

// begin makes a call and returns where its end will come.
func begin(ctx context.Context, way cluster.Way, g *cluster.Gateway, c *toolv1.Call) <-chan cluster.Ended {
	end := make(chan cluster.Ended, 1)
	go func() { end <- way.Call(ctx, g, c) }()
	return end
}

func unary() cluster.Way { return cluster.Ways[0] }

// ended waits for the end of a call.
func ended(t *testing.T, end <-chan cluster.Ended) cluster.Ended {
	t.Helper()
	select {
	case e := <-end:
		return e
	case <-time.After(30 * time.Second):
		t.Fatal("the call did not end")
		return cluster.Ended{}
	}
}

// open waits until so many calls wait or run at the gateway's nodes.
func open(t *testing.T, g *cluster.Gateway, n int) {
	t.Helper()
	testkit.Eventually(t, 20*time.Second, func() bool { return g.OpenCalls(t) == n }, "%d calls are open", n)
}
