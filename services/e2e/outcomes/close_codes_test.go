package outcomes_test

import (
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
	gateway "github.com/hecaton-dev/hecaton/services/gateway/app"
)

func TestIDsThatMayNotBeCloseWith4003(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Gateways: 1})
	g := c.Gateways[0]
	longest := strings.Repeat("x", 256)
	for name, id := range map[string]string{
		"too long": longest + "x", "a control character": "a\x00b", "a line's end": "a\n", "a delete": "\x7f", "no UTF-8": "a\xffb",
	} {
		for what, s := range map[string]*cluster.Client{
			"client_id of an extension": g.Extension(t, id, "n"),
			"client_id of a desktop":    g.Desktop(t, id, "n"),
			"node_id of an extension":   g.Extension(t, "u", id),
			"node_id of a desktop":      g.Desktop(t, "u", id),
			"user_id of a web client":   g.Dial(t, "/ws/web", url.Values{"user_id": {id}}),
		} {
			if code := s.Ended(); code != 4003 {
				t.Errorf("%s in %s: closed with %d", name, what, code)
			}
		}
	}
	g.Extension(t, longest, longest).Silent()
	g.Desktop(t, longest, longest).Silent()
}

func TestMissingIDsCloseWith4001(t *testing.T) {
	t.Parallel()
	g := cluster.Start(t, cluster.Options{Gateways: 1}).Gateways[0]
	for path, query := range map[string]string{
		"/ws/extension": "", "/ws/extension?": "client_id=user_", "/ws/extension??": "client_id=&node_id=n",
		"/ws/desktop": "node_id=n", "/ws/desktop?": "client_id=desktop_", "/ws/web": "", "/ws/web?": "user_id=",
	} {
		q, _ := url.ParseQuery(query)
		if code := g.Dial(t, strings.TrimRight(path, "?"), q).Ended(); code != 4001 {
			t.Errorf("%s %q: closed with %d", path, query, code)
		}
	}
}

func TestANodeThatFallsSilentClosesWith4008(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Gateway: func(_ int, cfg *gateway.Config) { cfg.HeartbeatLimit = 2 * time.Second }})
	silent, alive, web := node(t, c.Gateways[0], "u", "silent"), node(t, c.Gateways[0], "u", "alive"), c.Gateways[0].Web(t, "u")
	end := begin(t.Context(), unary(), c.Gateways[1], call("u", "silent", time.Minute))
	silent.Call()
	quit := make(chan struct{})
	var work sync.WaitGroup
	defer work.Wait()
	defer close(quit)
	work.Go(func() { // any frame is a sign of life, also one that is none
		for {
			select {
			case <-time.After(300 * time.Millisecond):
				alive.Send(`{"type":"pong"}`)
			case <-quit:
				return
			}
		}
	})
	begun := time.Now()
	if code := silent.Ended(); code != 4008 {
		t.Errorf("closed with %d", code)
	}
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("closed after %v", took)
	}
	expect(t, "its call", ended(t, end), "NODE_DISCONNECTED")
	gone(t, c, "silent")
	// The limit is the nodes'; web clients have no heartbeat.
	if !alive.Open() || !web.Open() {
		t.Error("a node that speaks, or a web client, was closed as well")
	}
}

func TestTheEleventhNodeClosesWith4009(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	var nodes []*cluster.Client
	for i := range 10 {
		nodes = append(nodes, named(t, c.Gateways[i%2], "u", fmt.Sprint("n", i)))
	}
	for _, g := range c.Gateways {
		if code := g.Extension(t, "u", "n10").Ended(); code != 4009 {
			t.Errorf("the eleventh closed with %d", code)
		}
		if code := g.Desktop(t, "u", "d").Ended(); code != 4009 { // whatever its type
			t.Errorf("the eleventh closed with %d", code)
		}
	}
	named(t, c.Gateways[0], "other", "n10") // each user has ten
	goesTo(t, c, &toolv1.Call{UserId: "u", NodeId: "n9", ToolName: "click"}, "n9")
	named(t, c.Gateways[0], "u", "n9") // the same node again, on another pod, is no eleventh
	goesTo(t, c, &toolv1.Call{UserId: "u", NodeId: "n9", ToolName: "click"}, "n9")
	nodes[3].Cut()
	gone(t, c, "n3")
	named(t, c.Gateways[1], "u", "n10") // a place became free
	goesTo(t, c, &toolv1.Call{UserId: "u", NodeId: "n10", ToolName: "click"}, "n10")
}

func TestTwentyRaceForTenPlaces(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Registries: 2})
	for round := range 5 {
		user := fmt.Sprint("u", round)
		var mu sync.Mutex
		nodes := map[string]*cluster.Client{}
		var racing sync.WaitGroup
		for i := range 20 {
			racing.Go(func() {
				id := fmt.Sprint("n", i)
				s, err := c.Gateways[i%2].TryDial(t, "/ws/extension", url.Values{"client_id": {"user_" + user}, "node_id": {id}}, nil)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				defer mu.Unlock()
				nodes[id] = s
			})
		}
		racing.Wait()
		refused := 0
		testkit.Eventually(t, 20*time.Second, func() bool {
			refused = 0
			for _, s := range nodes {
				if !s.Open() {
					refused++
				}
			}
			return refused >= 10
		}, "ten are refused")
		stay := map[string]bool{}
		for id, s := range nodes {
			if !s.Open() {
				if code := s.Ended(); code != 4009 {
					t.Errorf("round %d: %s closed with %d", round, id, code)
				}
				continue
			}
			s.Silent()
			stay[id] = true
		}
		r, err := c.Gateways[0].Tools.ListNodes(t.Context(), &toolv1.ListNodesRequest{UserId: user})
		if err != nil || len(r.GetNodes()) != 10 || len(stay) != 10 {
			t.Fatalf("round %d: %d stay, %d are listed (%v)", round, len(stay), len(r.GetNodes()), err)
		}
		for _, n := range r.GetNodes() {
			id := n.GetInfo().GetNodeId()
			if !stay[id] {
				t.Errorf("round %d: %s is listed and was refused", round, id)
			}
			nodes[id].Serve(func(cluster.ToolCall) string { return cluster.Text("I am " + id) })
			goesTo(t, c, &toolv1.Call{UserId: user, NodeId: id, ToolName: "click"}, id)
		}
	}
}
