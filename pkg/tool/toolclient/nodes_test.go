package toolclient_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/pkg/tool/toolclient"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
)

// questions is how a gateway answers what is asked about nodes: with its name as the node, unless refuse says otherwise.
type questions struct {
	asked  atomic.Int32
	refuse atomic.Pointer[func(context.Context) error]
}

func (q *questions) answer(ctx context.Context, name string) (*nodev1.Node, error) {
	q.asked.Add(1)
	if refuse := q.refuse.Load(); refuse != nil {
		if err := (*refuse)(ctx); err != nil {
			return nil, err
		}
	}
	return &nodev1.Node{Info: &nodev1.NodeInfo{NodeId: name}}, nil
}

func (g *gateway) refuses(refuse func(context.Context) error) { g.questions.refuse.Store(&refuse) }

// ListNodes implements ToolService.
func (g *gateway) ListNodes(ctx context.Context, req *toolv1.ListNodesRequest) (*toolv1.ListNodesResponse, error) {
	n, err := g.questions.answer(ctx, g.name+" of "+req.GetUserId())
	return &toolv1.ListNodesResponse{Nodes: []*nodev1.Node{n}}, err
}

// ResolveNode implements ToolService.
func (g *gateway) ResolveNode(ctx context.Context, req *toolv1.ResolveNodeRequest) (*toolv1.ResolveNodeResponse, error) {
	n, err := g.questions.answer(ctx, g.name+" of "+req.GetSessionId())
	return &toolv1.ResolveNodeResponse{Node: n}, err
}

// BindSession implements ToolService.
func (g *gateway) BindSession(ctx context.Context, req *toolv1.BindSessionRequest) (*toolv1.BindSessionResponse, error) {
	n, err := g.questions.answer(ctx, g.name+" of "+req.GetNodeId())
	return &toolv1.BindSessionResponse{Node: n}, err
}

func TestQuestions(t *testing.T) {
	t.Parallel()
	c := dial(t, toolclient.Patience{}, serve(t, "gw", answers))
	list, err := c.ListNodes(t.Context(), &toolv1.ListNodesRequest{UserId: "ana"})
	if err != nil || list.GetNodes()[0].GetInfo().GetNodeId() != "gw of ana" {
		t.Errorf("%v, %v", list, err)
	}
	resolved, err := c.ResolveNode(t.Context(), &toolv1.ResolveNodeRequest{SessionId: "s"})
	if err != nil || resolved.GetNode().GetInfo().GetNodeId() != "gw of s" {
		t.Errorf("%v, %v", resolved, err)
	}
	bound, err := c.BindSession(t.Context(), &toolv1.BindSessionRequest{NodeId: "desk"})
	if err != nil || bound.GetNode().GetInfo().GetNodeId() != "gw of desk" {
		t.Errorf("%v, %v", bound, err)
	}
}

func list(ctx context.Context, c *toolclient.Client) (string, error) {
	resp, err := c.ListNodes(ctx, &toolv1.ListNodesRequest{UserId: "ana"})
	if err != nil {
		return "", err
	}
	return resp.GetNodes()[0].GetInfo().GetNodeId(), nil
}

// A gateway that cannot answer is passed over at once; its neighbour is asked.
func TestQuestionsMoveOn(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"its registry is away": errs.New(errs.BusUnavailable, "no registry"),
		"it drains":            errs.New(errs.Draining, "leaving"),
		"it is not reached":    status.Error(codes.Unavailable, "connection reset"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bad, good := serve(t, "bad", answers), serve(t, "good", answers)
			bad.refuses(func(context.Context) error { return err })
			c := dial(t, toolclient.Patience{}, bad, good)
			for range 4 {
				if got, err := list(t.Context(), c); err != nil || got != "good of ana" {
					t.Errorf("%s, %v", got, err)
				}
			}
			if n := bad.questions.asked.Load(); n == 0 || n > 4 {
				t.Errorf("the bad gateway was asked %d times", n)
			}
		})
	}
}

// Where no gateway can answer, patience ends in BUS_UNAVAILABLE; a gateway that recovers meanwhile is found.
func TestQuestionsWait(t *testing.T) {
	t.Parallel()
	g := serve(t, "gw", answers)
	g.refuses(func(context.Context) error { return errs.New(errs.BusUnavailable, "no registry") })
	c := dial(t, brief, g)
	if _, err := list(t.Context(), c); !errors.Is(err, errs.BusUnavailable) {
		t.Errorf("got %v", err)
	}
	var refused atomic.Int32
	g.refuses(func(context.Context) error {
		if refused.Add(1) < 3 {
			return errs.New(errs.BusUnavailable, "no registry")
		}
		return nil
	})
	if _, err := list(t.Context(), c); err != nil {
		t.Error(err)
	}
	g.kill()
	testkit.Eventually(t, 5*time.Second, func() bool { return toolclient.Up(c) == 0 }, "the client hears that its gateway is gone")
	if _, err := list(t.Context(), c); !errors.Is(err, errs.BusUnavailable) {
		t.Errorf("without a gateway: %v", err)
	}
}

// What the registry decided is not asked twice.
func TestQuestionsThatWereDecided(t *testing.T) {
	t.Parallel()
	for _, code := range []codes.Code{codes.NotFound, codes.InvalidArgument} {
		g := serve(t, "gw", answers)
		g.refuses(func(context.Context) error { return status.Error(code, "no") })
		c := dial(t, toolclient.Patience{}, g)
		if _, err := c.BindSession(t.Context(), &toolv1.BindSessionRequest{NodeId: "desk"}); status.Code(err) != code {
			t.Errorf("got %v", err)
		}
		if n := g.questions.asked.Load(); n != 1 {
			t.Errorf("asked %d times", n)
		}
	}
}

func TestQuestionsEndWithTheirCaller(t *testing.T) {
	t.Parallel()
	g := serve(t, "gw", answers)
	entered := make(chan struct{}, 1)
	g.refuses(func(ctx context.Context) error {
		entered <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	})
	c := dial(t, toolclient.Patience{}, g)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := list(ctx, c)
		done <- err
	}()
	<-entered
	cancel()
	if err := <-done; !errors.Is(err, errs.Cancelled) {
		t.Errorf("got %v", err)
	}
}
