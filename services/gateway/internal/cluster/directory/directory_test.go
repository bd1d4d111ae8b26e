package directory_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/directory"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// registry answers with a node, and counts the questions.
type registry struct {
	directory.Registry // for what is never asked here

	mu    sync.Mutex
	node  string
	err   error
	asked int
}

func (r *registry) Resolve(context.Context, *nodev1.ResolveNodeRequest) (*nodev1.ResolveNodeResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked++
	return &nodev1.ResolveNodeResponse{NodeId: r.node}, r.err
}

func (r *registry) set(node string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.node, r.err = node, err
}

func (r *registry) questions() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.asked
}

// cluster is a directory, its registry, and the bus on which the registry announces.
type cluster struct {
	*directory.Directory
	registry  *registry
	elsewhere *bus.Conn
	user      string
}

func start(t *testing.T) *cluster {
	t.Helper()
	here, elsewhere := connect(t), connect(t)
	r := &registry{node: "a"}
	d, err := directory.New(directory.Options{Registry: r, Bus: here})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return &cluster{d, r, elsewhere, testkit.Prefix(t)}
}

func connect(t *testing.T) *bus.Conn {
	t.Helper()
	b, err := bus.Connect(t.Context(), bus.Options{URL: testkit.NATS(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

func (c *cluster) ask(t *testing.T, change func(*nodev1.ResolveNodeRequest)) string {
	t.Helper()
	r := &nodev1.ResolveNodeRequest{UserId: c.user, NodeType: nodev1.NodeType_NODE_TYPE_DESKTOP}
	if change != nil {
		change(r)
	}
	resp, err := c.Resolve(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return resp.GetNodeId()
}

// remembered asks until the answer comes without the registry.
func (c *cluster) remembered(t *testing.T) {
	t.Helper()
	testkit.Eventually(t, 10*time.Second, func() bool {
		before := c.registry.questions()
		c.ask(t, nil)
		return c.registry.questions() == before
	}, "an answer is remembered")
}

func TestTheFirstNodeIsRememberedUntilTheNodesChange(t *testing.T) {
	t.Parallel()
	c := start(t)
	c.remembered(t)
	c.registry.set("b", nil)
	if err := c.elsewhere.Publish(bus.NodeEventSubject(ids.UserID(c.user)), nil); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, time.Second, func() bool { return c.ask(t, nil) == "b" }, "a change is heard of before the answer is too old")
}

func TestAnAnswerGrowsOld(t *testing.T) {
	t.Parallel()
	c := start(t)
	c.remembered(t)
	c.registry.set("b", nil)
	if got := c.ask(t, nil); got != "a" {
		t.Errorf("without a change: %s", got)
	}
	testkit.Eventually(t, 10*time.Second, func() bool { return c.ask(t, nil) == "b" }, "a change whose announcement is lost is seen")
}

func TestACallThatFindsNoNodeAsksAnew(t *testing.T) {
	t.Parallel()
	c := start(t)
	c.remembered(t)
	c.registry.set("b", nil)
	c.Forget(ids.Node{User: ids.UserID(c.user), Node: "a"})
	if got := c.ask(t, nil); got != "b" {
		t.Errorf("still %s", got)
	}
}

func TestSessionsAndWishesAreTheRegistrys(t *testing.T) {
	t.Parallel()
	c := start(t)
	c.remembered(t)
	c.registry.set("b", nil)
	for name, change := range map[string]func(*nodev1.ResolveNodeRequest){
		"a session":        func(r *nodev1.ResolveNodeRequest) { r.SessionId = "s" },
		"a preferred node": func(r *nodev1.ResolveNodeRequest) { r.PreferredNodeId = "b" },
		"another type":     func(r *nodev1.ResolveNodeRequest) { r.NodeType = nodev1.NodeType_NODE_TYPE_EXTENSION },
		"another user":     func(r *nodev1.ResolveNodeRequest) { r.UserId = c.user + "2" },
	} {
		if got := c.ask(t, change); got != "b" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestThatThereIsNoNodeIsNotRemembered(t *testing.T) {
	t.Parallel()
	c := start(t)
	c.registry.set("", nil)
	testkit.Eventually(t, 10*time.Second, func() bool { c.ask(t, nil); return c.registry.questions() > 20 }, "it is asked each time")
	c.registry.set("", errors.New("away"))
	if _, err := c.Resolve(t.Context(), &nodev1.ResolveNodeRequest{UserId: c.user}); err == nil {
		t.Error("the registry's error is not told")
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	if _, err := directory.New(directory.Options{}); err == nil {
		t.Error("a directory of nothing")
	}
}
