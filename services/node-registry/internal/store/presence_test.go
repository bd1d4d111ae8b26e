package store_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/node-registry/internal/registrytest"
	"github.com/hecaton-dev/hecaton/services/node-registry/internal/store"
)

func testRegister(f *fixture) {
	accepted := time.Date(2026, 1, 2, 3, 4, 5, 678_901_234, time.UTC)
	r := f.registration("ana", "ext")
	r.Status, r.Tasks, r.ConnectedAt = nodev1.NodeStatus_NODE_STATUS_BUSY, 2, accepted
	got := f.store.Register(f.ctx, []store.Registration{r})[0]
	f.wantRegistered(got, registered, online)

	node := f.nodes(f.store, "ana")[0]
	if !proto.Equal(node, got.Event.GetNode()) {
		f.Errorf("listed  %v\nwatched %v", node, got.Event.GetNode())
	}
	if info := node.GetInfo(); info.GetNodeName() != "name of ext" || !slices.Equal(info.GetAvailableTools(), []string{"click", "type"}) {
		f.Errorf("info: %v", info)
	}
	if node.GetStatus() != nodev1.NodeStatus_NODE_STATUS_BUSY || node.GetCurrentTasks() != 2 || !node.GetIsConnected() ||
		node.GetGatewayId() != "gw-1" || node.GetEpoch() != int64(got.Epoch) || !node.GetConnectedAt().AsTime().Equal(accepted) {
		f.Errorf("node: %v", node)
	}
	if age := time.Since(node.GetLastSeenAt().AsTime()); age < -time.Second || age > 10*time.Second {
		f.Errorf("last seen %v ago", age)
	}
	if got.Event.GetUserId() != "ana" || !got.Event.GetAt().AsTime().Equal(node.GetLastSeenAt().AsTime()) {
		f.Errorf("event: %v", got.Event)
	}
	// What is not said has a default: online, connected now.
	f.register(f.store, "ana", "plain")
	plain := f.nodes(f.store, "ana")[1]
	if plain.GetStatus() != nodev1.NodeStatus_NODE_STATUS_ONLINE || time.Since(plain.GetConnectedAt().AsTime()) > 10*time.Second {
		f.Errorf("plain node: %v", plain)
	}
}

func testEpochs(f *fixture) {
	before := ids.Epoch(f.client.Time(f.ctx).Val().UnixMilli())
	first := f.register(f.store, "ana", "ext")
	if first < before {
		f.Errorf("epoch %d is older than Redis's clock, %d", first, before)
	}
	last := first
	for range 20 { // faster than the clock ticks
		next := f.register(f.store, "ana", "ext")
		if next <= last {
			f.Fatalf("epoch %d after %d", next, last)
		}
		last = next
	}
	if nodes := f.nodes(f.store, "ana"); len(nodes) != 1 || nodes[0].GetEpoch() != int64(last) {
		f.Errorf("nodes: %v", nodes)
	}
}

func testChangeOfInfo(f *fixture) {
	accepted := time.Unix(1_700_000_000, 0)
	r := f.registration("ana", "ext")
	r.ConnectedAt, r.Status, r.Tasks = accepted, nodev1.NodeStatus_NODE_STATUS_BUSY, 1
	first := f.store.Register(f.ctx, []store.Registration{r})[0]
	f.wantRegistered(first, registered, online)

	same := f.registerAs(f.store, "ana", "ext", first.Epoch)
	f.wantRegistered(same, registered, silent)

	info, err := store.NewInfo(&nodev1.NodeInfo{NodeId: "ext", NodeType: nodev1.NodeType_NODE_TYPE_DESKTOP, NodeName: "renamed"})
	if err != nil {
		f.Fatal(err)
	}
	change := store.Registration{User: "ana", Gateway: "gw-1", Epoch: first.Epoch, Info: info}
	second := f.store.Register(f.ctx, []store.Registration{change})[0]
	f.wantRegistered(second, registered, updated)
	if second.Epoch != first.Epoch {
		f.Errorf("epoch changed from %d to %d", first.Epoch, second.Epoch)
	}
	node := f.nodes(f.store, "ana")[0]
	if node.GetInfo().GetNodeName() != "renamed" || node.GetInfo().GetOs() != "" {
		f.Errorf("info: %v", node.GetInfo())
	}
	if node.GetStatus() != nodev1.NodeStatus_NODE_STATUS_BUSY || node.GetCurrentTasks() != 1 || !node.GetConnectedAt().AsTime().Equal(accepted) {
		f.Errorf("a change of info changed more: %v", node)
	}
	if !proto.Equal(node, second.Event.GetNode()) {
		f.Errorf("listed  %v\nwatched %v", node, second.Event.GetNode())
	}
}

func testExpiry(f *fixture) {
	s := f.shortLived()
	epoch := f.register(s, "ana", "ext")
	f.awaitExpiry(s, "ana") // and no sweep ran
	f.wantBeat(s, "ana", "ext", epoch, beatUnknown)
	back := f.registerAs(s, "ana", "ext", epoch)
	f.wantRegistered(back, registered, online)
	if back.Epoch != epoch {
		f.Errorf("came back with epoch %d instead of its own, %d", back.Epoch, epoch)
	}
	f.wantBeat(s, "ana", "ext", epoch, beatOK)
}

func testLate(f *fixture) {
	old := f.register(f.store, "ana", "ext")
	current := f.register(f.store, "ana", "ext")
	if event := f.deregister(f.store, "ana", "ext", old); event != nil {
		f.Errorf("a late close removed the newer connection: %v", event)
	}
	f.wantBeat(f.store, "ana", "ext", old, beatSuperseded)
	late := f.registerAs(f.store, "ana", "ext", old)
	f.wantRegistered(late, superseded, silent)
	if late.Epoch != current {
		f.Errorf("superseded by %d, the answer says %d", current, late.Epoch)
	}
	f.wantBeat(f.store, "ana", "ext", current, beatOK)
	if nodes := f.nodes(f.store, "ana"); len(nodes) != 1 || nodes[0].GetEpoch() != int64(current) {
		f.Errorf("nodes: %v", nodes)
	}
}

func testNewerCameAndWent(f *fixture) {
	old := f.register(f.store, "ana", "ext")
	newer := f.register(f.store, "ana", "ext")
	if f.deregister(f.store, "ana", "ext", newer) == nil {
		f.Fatal("the newer connection was not removed")
	}
	f.wantBeat(f.store, "ana", "ext", old, beatSuperseded)
	f.wantRegistered(f.registerAs(f.store, "ana", "ext", old), superseded, silent)
	if nodes := f.nodes(f.store, "ana"); len(nodes) != 0 {
		f.Errorf("nodes: %v", nodes)
	}
}

// accepted registers a new connection that a pod accepted at a moment of its clock.
func (f *fixture) accepted(gateway ids.GatewayID, node string, at time.Time) store.Registered {
	r := f.registration("ana", node)
	r.Gateway, r.ConnectedAt = gateway, at
	return f.store.Register(f.ctx, []store.Registration{r})[0]
}

// A registration that comes late does not supersede a connection that was accepted later.
func testAcceptedBefore(f *fixture) {
	now := f.client.Time(f.ctx).Val()
	current := f.accepted("gw-2", "ext", now.Add(-time.Second))
	f.wantRegistered(current, registered, online)
	late := f.accepted("gw-1", "ext", now.Add(-2*time.Second))
	f.wantRegistered(late, superseded, silent)
	if late.Epoch != current.Epoch {
		f.Errorf("superseded by %d, the answer says %d", current.Epoch, late.Epoch)
	}
	f.wantBeat(f.store, "ana", "ext", current.Epoch, beatOK)
	f.wantRegistered(f.accepted("gw-1", "ext", now.Add(-time.Second/2)), registered, online)
	f.register(f.store, "ana", "ext") // accepted nobody knows when

	// A pod whose clock is ahead does not keep those out that come after it.
	f.wantRegistered(f.accepted("gw-2", "ahead", now.Add(time.Hour)), registered, online)
	f.wantRegistered(f.accepted("gw-1", "ahead", f.client.Time(f.ctx).Val().Add(time.Millisecond)), registered, online)
	// Nor does a connection that is gone.
	f.deregister(f.store, "ana", "ext", f.register(f.store, "ana", "ext"))
	f.wantRegistered(f.accepted("gw-1", "ext", now.Add(-time.Hour)), registered, online)
}

// A registration of which the pod has not heard is that connection's own, not that of a later one.
func testUnheardRegistration(f *fixture) {
	at := time.Now()
	unheard := f.accepted("gw-1", "ext", at)
	f.wantRegistered(unheard, registered, online)
	own := f.registration("ana", "ext")
	own.ConnectedAt, own.Epoch = at, unheard.Epoch-5
	for gateway, want := range map[ids.GatewayID]nodev1.RegisterResult_Outcome{"gw-2": superseded, "gw-1": registered} {
		own.Gateway = gateway
		got := f.store.Register(f.ctx, []store.Registration{own})[0]
		f.wantRegistered(got, want, silent)
		if got.Epoch != unheard.Epoch {
			f.Errorf("%s: epoch %d, not %d", gateway, got.Epoch, unheard.Epoch)
		}
	}
	own.ConnectedAt = at.Add(-time.Nanosecond)
	f.wantRegistered(f.store.Register(f.ctx, []store.Registration{own})[0], superseded, silent)
}

func testClosedStaysClosed(f *fixture) {
	epoch := f.register(f.store, "ana", "ext")
	event := f.deregister(f.store, "ana", "ext", epoch)
	if event.GetKind() != offline || event.GetNode().GetEpoch() != int64(epoch) || event.GetNode().GetIsConnected() ||
		event.GetNode().GetInfo().GetNodeName() != "name of ext" || event.GetNode().GetGatewayId() != "" {
		f.Errorf("event: %v", event)
	}
	if again := f.deregister(f.store, "ana", "ext", epoch); again != nil {
		f.Errorf("removed twice: %v", again)
	}
	f.wantRegistered(f.registerAs(f.store, "ana", "ext", epoch), superseded, silent)
	if next := f.register(f.store, "ana", "ext"); next <= epoch {
		f.Errorf("epoch %d after %d", next, epoch)
	}
	if f.deregister(f.store, "ana", "never seen", 0) != nil {
		f.Error("removed what was not there")
	}
}

func testEmptied(f *fixture) {
	epoch := f.register(f.store, "ana", "ext")
	registrytest.Flush(f, f.client)
	f.wantBeat(f.store, "ana", "ext", epoch, beatUnknown)
	back := f.registerAs(f.store, "ana", "ext", epoch)
	f.wantRegistered(back, registered, online)
	if back.Epoch != epoch {
		f.Errorf("came back with epoch %d instead of its own, %d", back.Epoch, epoch)
	}
	f.wantBeat(f.store, "ana", "ext", epoch, beatOK)
	registrytest.Flush(f, f.client)
	testkit.Eventually(f, time.Second, func() bool { return f.client.Time(f.ctx).Val().UnixMilli() > int64(epoch) }, "Redis's clock ticks")
	if next := f.register(f.store, "ana", "ext"); next <= epoch {
		f.Errorf("epoch %d after %d", next, epoch)
	}
	f.wantBeat(f.store, "ana", "ext", epoch, beatSuperseded)
}

// Redis loses two connections of one node, of which the older is still open somewhere: whoever registers first, the
// newer one is left.
func testEmptiedWithTwoConnections(f *fixture) {
	for _, olderFirst := range []bool{true, false} {
		old := f.register(f.store, "ana", "ext")
		newer := f.register(f.store, "ana", "ext")
		registrytest.Flush(f, f.client)
		if olderFirst {
			f.wantRegistered(f.registerAs(f.store, "ana", "ext", old), registered, online)
			f.wantBeat(f.store, "ana", "ext", newer, beatUnknown)
		}
		f.wantRegistered(f.registerAs(f.store, "ana", "ext", newer), registered, online)
		f.wantRegistered(f.registerAs(f.store, "ana", "ext", old), superseded, silent)
		f.wantBeat(f.store, "ana", "ext", old, beatSuperseded)
		f.wantBeat(f.store, "ana", "ext", newer, beatOK)
	}
}

func testLimit(f *fixture) {
	// Twenty register for ten places through two replicas.
	other := f.with(func(*store.Rules) {})
	var wg sync.WaitGroup
	outcomes := make([]nodev1.RegisterResult_Outcome, 20)
	for i := range outcomes {
		s := []*store.Store{f.store, other}[i%2]
		r := f.registration("ana", numbered("n", i))
		wg.Go(func() { outcomes[i] = s.Register(f.ctx, []store.Registration{r})[0].Outcome })
	}
	wg.Wait()
	var in []int
	for i, o := range outcomes {
		switch o {
		case registered:
			in = append(in, i)
		case tooMany:
		default:
			f.Errorf("%d: %v", i, o)
		}
	}
	if len(in) != 10 || len(f.nodes(f.store, "ana")) != 10 {
		f.Fatalf("%d were let in, %d are listed", len(in), len(f.nodes(f.store, "ana")))
	}
	// A live node's id takes no place of its own; another user has places of their own.
	f.register(f.store, "ana", numbered("n", in[0]))
	f.register(f.store, "bob", "n-0")
	f.wantRegistered(f.store.Register(f.ctx, []store.Registration{f.registration("ana", "eleventh")})[0], tooMany, silent)
	// A connection that comes back is no exception.
	f.wantRegistered(f.registerAs(f.store, "ana", "eleventh", 12345), tooMany, silent)

	// Expired nodes take no place, swept or not.
	short := f.with(func(r *store.Rules) { r.Lease, r.NodesPerUser = shortLease, 1 })
	f.register(short, "eva", "one")
	f.awaitExpiry(short, "eva")
	f.register(short, "eva", "two")
	if got := names(f.nodes(short, "eva")); !slices.Equal(got, []string{"two"}) {
		f.Errorf("nodes: %v", got)
	}
}

func testHeartbeat(f *fixture) {
	s := f.shortLived()
	epoch := f.register(s, "ana", "ext")
	node := nodeOf("ana", "ext")
	first := f.nodes(s, "ana")[0].GetLastSeenAt().AsTime()
	for until := time.Now().Add(2 * shortLease); time.Now().Before(until); {
		f.wantBeat(s, "ana", "ext", epoch, beatOK) // outlives its first lease by far
		if event := f.beat(s, "ana", "ext", epoch).Event; event != nil {
			f.Fatalf("a heartbeat that changes nothing is an event: %v", event)
		}
	}
	if got := f.nodes(s, "ana")[0]; !got.GetLastSeenAt().AsTime().After(first) || got.GetStatus() != nodev1.NodeStatus_NODE_STATUS_ONLINE {
		f.Errorf("node: %v", got)
	}
	busy := store.Beat{Node: node, Epoch: epoch, Status: nodev1.NodeStatus_NODE_STATUS_BUSY, Tasks: 2}
	first2 := s.Heartbeat(f.ctx, []store.Beat{busy, busy})
	if first2[0].Event.GetKind() != updated || first2[1].Event != nil {
		f.Fatalf("a changed status, twice: %v", first2)
	}
	if got := f.nodes(s, "ana")[0]; !proto.Equal(got.GetInfo(), first2[0].Event.GetNode().GetInfo()) || got.GetStatus() != busy.Status || got.GetCurrentTasks() != 2 {
		f.Errorf("node %v, event %v", got, first2[0].Event)
	}
	f.beat(s, "ana", "ext", epoch)
	if got := f.nodes(s, "ana")[0]; got.GetStatus() != busy.Status || got.GetCurrentTasks() != 2 {
		f.Errorf("a heartbeat without status changed it: %v", got)
	}
	f.wantBeat(s, "ana", "nobody", epoch, beatUnknown)
}

// Many pipelines; ten thousand go through the service itself, on a server.
func testLargeBatch(f *fixture) {
	const n = 2_050
	regs := make([]store.Registration, n)
	for i := range regs {
		regs[i] = f.registration(numbered("user", i), "ext")
	}
	start := time.Now()
	results := f.store.Register(f.ctx, regs)
	took := time.Since(start)
	beats := make([]store.Beat, n)
	for i, r := range results {
		f.wantRegistered(r, registered, online)
		beats[i] = store.Beat{Node: nodeOf(numbered("user", i), "ext"), Epoch: r.Epoch}
	}
	start = time.Now()
	for i, b := range f.store.Heartbeat(f.ctx, beats) {
		if b.Err != nil || b.Result != beatOK {
			f.Fatalf("%d: %v %v", i, b.Result, b.Err)
		}
	}
	f.Logf("%d registrations in %v, heartbeats in %v", n, took, time.Since(start))
}

func testOrder(f *fixture) {
	accepted := time.Now()
	for i, name := range []string{"c", "b", "a"} {
		r := f.registration("ana", name)
		r.ConnectedAt = accepted.Add(time.Duration(-i) * time.Minute)
		f.store.Register(f.ctx, []store.Registration{r})
	}
	if got := names(f.nodes(f.store, "ana")); !slices.Equal(got, []string{"a", "b", "c"}) {
		f.Errorf("order: %v", got)
	}
	// Without a time of their own they count from when they arrived.
	for i := range 5 {
		f.register(f.store, "bob", numbered("n", 9-i))
	}
	if got := names(f.nodes(f.store, "bob")); !slices.Equal(got, []string{"n-9", "n-8", "n-7", "n-6", "n-5"}) {
		f.Errorf("order: %v", got)
	}
}

func TestNewInfo(t *testing.T) {
	t.Parallel()
	big := &nodev1.NodeInfo{NodeId: "n", NodeType: nodev1.NodeType_NODE_TYPE_DESKTOP, NodeName: string(make([]byte, store.MaxInfoBytes))}
	for name, info := range map[string]*nodev1.NodeInfo{
		"none":     nil,
		"no id":    {NodeType: nodev1.NodeType_NODE_TYPE_DESKTOP},
		"bad id":   {NodeId: "a\nb", NodeType: nodev1.NodeType_NODE_TYPE_DESKTOP},
		"no type":  {NodeId: "n"},
		"odd type": {NodeId: "n", NodeType: 99},
		"too big":  big,
	} {
		if _, err := store.NewInfo(info); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
