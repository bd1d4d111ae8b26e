package hub_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/held/hub"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/conn"
)

func TestMain(m *testing.M) { testkit.Main(m) }

func node(user, id string, kind nodev1.NodeType) *hub.Node {
	return hub.NewNode(ids.UserID(user), "extension", &nodev1.NodeInfo{NodeId: id, NodeType: kind, MaxConcurrentTasks: 1}, nil, nil)
}

const (
	extension = nodev1.NodeType_NODE_TYPE_EXTENSION
	desktop   = nodev1.NodeType_NODE_TYPE_DESKTOP
	either    = nodev1.NodeType_NODE_TYPE_UNSPECIFIED
)

func TestTheLaterArrivalTakesTheNameAndAStaleRemovalDoesNotTakeItBack(t *testing.T) {
	t.Parallel()
	h := hub.New()
	first, second := node("ana", "n", extension), node("ana", "n", desktop)
	if left := h.Add(first); left != nil {
		t.Error("somebody left an empty hub")
	}
	if left := h.Add(second); left != first {
		t.Errorf("%v left", left)
	}
	if h.Remove(first) || h.Find(second.Key()) != second {
		t.Error("the first one's late goodbye removed the second")
	}
	if !h.Remove(second) || h.Find(second.Key()) != nil || h.Remove(second) {
		t.Error("not removed once")
	}
}

func TestUsersAreApartAndFirstIsByArrival(t *testing.T) {
	t.Parallel()
	h := hub.New()
	a1, a2, b := node("ana", "1", desktop), node("ana", "2", extension), node("bob", "1", extension)
	for _, n := range []*hub.Node{a1, a2, b} {
		h.Add(n)
	}
	if h.First("ana", either) != a1 || h.First("ana", extension) != a2 || h.First("bob", either) != b ||
		h.First("bob", desktop) != nil || h.First("eve", either) != nil {
		t.Error("the wrong node is first")
	}
	if h.Find(ids.Node{User: "bob", Node: "2"}) != nil {
		t.Error("bob found ana's node")
	}
	if st := h.Counts(); st.GetExtensionConnections() != 2 || st.GetDesktopConnections() != 1 {
		t.Error(st)
	}
}

func TestRename(t *testing.T) {
	t.Parallel()
	h := hub.New()
	n, other := node("ana", "old", desktop), node("ana", "new", desktop)
	n.SetEpoch(7)
	h.Add(n)
	h.Add(other)
	left, ok := h.Rename(n, "new")
	if !ok || left != other || h.Find(ids.Node{User: "ana", Node: "old"}) != nil || h.Find(n.Key()) != n || n.Epoch() != 0 {
		t.Errorf("%v %v", left, ok)
	}
	h.Remove(n)
	if _, ok := h.Rename(n, "newer"); ok {
		t.Error("a node that left was renamed")
	}
}

func TestClients(t *testing.T) {
	t.Parallel()
	h := hub.New()
	one, two := &hub.Client{User: "ana", Kind: "web", Name: "1"}, &hub.Client{User: "ana", Kind: "viewer", Name: "2"}
	h.AddClient(one)
	h.AddClient(two)
	h.Add(node("ana", "a", nodev1.NodeType_NODE_TYPE_EXTENSION))
	if got := h.Connections(); len(got) != 3 || got["web"] != 1 || got["viewer"] != 1 || got["extension"] != 1 {
		t.Error(got)
	}
	if st := h.Counts(); st.GetWebConnections() != 2 || st.GetExtensionConnections() != 1 {
		t.Error(st)
	}
	h.RemoveClient(one)
	h.RemoveClient(one)
	if _, clients := h.All(); len(clients) != 1 || clients[0] != two {
		t.Error(clients)
	}
}

func TestHeartbeatsAreNewsOnce(t *testing.T) {
	t.Parallel()
	n := node("ana", "n", desktop)
	n.SetLoad(nodev1.NodeStatus_NODE_STATUS_BUSY, 3)
	if s, tasks := n.Load(); s != nodev1.NodeStatus_NODE_STATUS_BUSY || tasks != 3 {
		t.Error(s, tasks)
	}
}

// Nodes that came together are told of evenly, each once in an interval, and it stays so although no tick is on time.
func TestHeartbeatsOfAStormAreSpread(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const every, intervals, count = 30, 40, 900 // seconds; intervals; nodes
		nodes, sockets := make([]*hub.Node, count), make([]*conn.Conn, count)
		for i := range nodes {
			sockets[i] = &conn.Conn{}
			nodes[i] = hub.NewNode("ana", "extension", &nodev1.NodeInfo{NodeId: fmt.Sprint(i)}, sockets[i], nil)
			nodes[i].SetEpoch(1)
		}
		start, beats := time.Now(), make([]int, count)
		for tick := range every * intervals {
			<-time.After(time.Until(start.Add(time.Duration(tick+1)*time.Second + rand.N(5*time.Millisecond))))
			now, together := time.Now(), 0
			for i, n := range nodes {
				sockets[i].Seen()
				if n.BeatDue(now, every*time.Second) {
					beats[i]++
					together++
				}
			}
			if together > 3*count/every {
				t.Fatalf("after %v %d of %d nodes at once", now.Sub(start), together, count)
			}
		}
		for i, n := range beats {
			if n < intervals-1 || n > intervals {
				t.Errorf("node %d was told of %d times in %d intervals", i, n, intervals)
			}
		}
	})
}

func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	h := hub.New()
	var work sync.WaitGroup
	for g := range 8 {
		work.Go(func() {
			for i := range 500 {
				n := node(fmt.Sprint("u", i%7), fmt.Sprint("n", i%3), extension)
				h.Add(n)
				h.Rename(n, ids.NodeID(fmt.Sprint("r", g)))
				h.First(n.User, either)
				h.Counts()
				h.Remove(n)
			}
		})
	}
	work.Wait()
	if nodes, _ := h.All(); len(nodes) != 0 {
		t.Errorf("%d nodes stayed", len(nodes))
	}
}
