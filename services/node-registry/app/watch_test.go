package app_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/node-registry/app"
)

// watcher is one open stream.
type watcher struct {
	t      testing.TB
	stream grpc.ServerStreamingClient[nodev1.WatchNodesResponse]
}

// watch opens a stream and waits for READY.
func (r *replica) watch(t testing.TB, user string) *watcher {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // a missing event fails the test instead of hanging it
	t.Cleanup(cancel)
	stream, err := r.WatchNodes(ctx, &nodev1.WatchNodesRequest{UserId: user})
	if err != nil {
		t.Fatal(err)
	}
	w := &watcher{t, stream}
	if first := w.next(); first.GetKind() != ready {
		t.Fatalf("the first event is %v", first)
	}
	return w
}

func (w *watcher) next() *nodev1.NodeEvent {
	w.t.Helper()
	res, err := w.stream.Recv()
	if err != nil {
		w.t.Fatal(err)
	}
	return res.GetEvent()
}

// want takes the next event, which has to be this.
func (w *watcher) want(kind nodev1.NodeEvent_Kind, user, node string, epoch int64) *nodev1.NodeEvent {
	w.t.Helper()
	got := w.next()
	if got.GetKind() != kind || got.GetUserId() != user || got.GetNode().GetInfo().GetNodeId() != node || got.GetNode().GetEpoch() != epoch {
		w.t.Fatalf("got %v, want %v of %q/%q, epoch %d", got, kind, user, node, epoch)
	}
	if got.GetNode().GetInfo().GetNodeName() == "" || got.GetAt() == nil || got.GetNode().GetIsConnected() != (kind != offline) {
		w.t.Errorf("event: %v", got)
	}
	return got
}

// end takes the error that ends the stream, whatever events come before.
func (w *watcher) end() error {
	for {
		if _, err := w.stream.Recv(); err != nil {
			return err
		}
	}
}

func TestWatch(t *testing.T) {
	t.Parallel()
	pods := replicas(t, own(t), 2, nil)
	user := testkit.Prefix(t)
	// What happens on one replica is seen on both, by one user's watcher and by everybody's.
	watchers := []*watcher{pods[0].watch(t, user), pods[1].watch(t, user)}
	all := pods[1].watch(t, "")
	other := pods[0].watch(t, user+"2")

	first := pods[0].register(t, user, "ext")
	for _, w := range watchers {
		w.want(online, user, "ext", first)
	}
	pods[0].register(t, user, "ext") // superseded
	second := pods[0].register(t, user, "ext")
	busy := &nodev1.NodeBeat{UserId: user, NodeId: "ext", Epoch: second, Status: isBusy, CurrentTasks: 1}
	pods[0].beat(t, busy, busy, &nodev1.NodeBeat{UserId: user, NodeId: "ext", Epoch: second}) // one of them changes something
	same := registration(user, "ext", extension)
	same.Epoch = second
	pods[0].registerAs(t, same) // changes nothing
	same.Info.NodeName = "renamed"
	pods[0].registerAs(t, same)
	pods[0].deregister(t, &nodev1.NodeRef{UserId: user, NodeId: "ext", Epoch: first}) // too late
	pods[0].deregister(t, &nodev1.NodeRef{UserId: user, NodeId: "ext", Epoch: second})
	for _, w := range watchers {
		w.next()
		w.want(online, user, "ext", second)
		if got := w.want(updated, user, "ext", second).GetNode(); got.GetStatus() != isBusy || got.GetCurrentTasks() != 1 {
			t.Errorf("heartbeat: %v", got)
		}
		if got := w.want(updated, user, "ext", second).GetNode(); got.GetInfo().GetNodeName() != "renamed" || got.GetStatus() != isBusy {
			t.Errorf("change of info: %v", got)
		}
		if got := w.want(offline, user, "ext", second).GetNode(); got.GetInfo().GetNodeName() != "renamed" {
			t.Errorf("close: %v", got)
		}
	}
	for seen := 0; seen < 5; { // what others do on this bus comes here too
		if all.next().GetUserId() == user {
			seen++
		}
	}
	theirs := pods[0].register(t, user+"2", "n")
	other.want(online, user+"2", "n", theirs) // and nothing before
}

// Hostile ids reach their own watchers and nobody else's.
func TestWatchHostileIDs(t *testing.T) {
	t.Parallel()
	r := start(t, servers{redis: testkit.OwnRedis(t).URL(), nats: testkit.OwnNATS(t).URL()}, nil)
	users := []string{"*", ">", "a.b", "a.*", "a b", "ü-漢", "}", "{a}", "../a", "=2a", "a", strings.Repeat(">", 256)}
	watchers := make([]*watcher, len(users))
	for i, user := range users {
		watchers[i] = r.watch(t, user)
	}
	for i, user := range users {
		watchers[i].want(online, user, user, r.register(t, user, user)) // the first that each hears
	}
	for i, user := range users {
		epoch := r.register(t, user, user)
		watchers[i].want(online, user, user, epoch)
	}
}

// Three replicas sweep at short intervals: each expiry is announced once.
func TestExpiryIsAnnouncedOnce(t *testing.T) {
	t.Parallel()
	pods := replicas(t, servers{redis: testkit.OwnRedis(t).URL(), nats: testkit.OwnNATS(t).URL()}, 3, func(c *app.Config) {
		c.Lease, c.SweepEvery = shortLease, 20*time.Millisecond
	})
	w := pods[0].watch(t, "")
	const n = 50
	want := map[string]int64{}
	for i := range n {
		want[numbered("user", i)] = pods[i%3].register(t, numbered("user", i), "ext")
	}
	seen := map[string]int{}
	// After all have gone, one more node: what was announced twice would have come before its end.
	for len(seen) < n || seen["last"] == 0 {
		e := w.next()
		if e.GetKind() != offline {
			continue
		}
		seen[e.GetUserId()]++
		if seen[e.GetUserId()] > 1 {
			t.Errorf("announced again: %v", e)
		}
		if epoch, ok := want[e.GetUserId()]; ok && e.GetNode().GetEpoch() != epoch {
			t.Errorf("event: %v, want epoch %d", e, epoch)
		}
		if len(seen) == n {
			pods[0].register(t, "last", "ext")
		}
	}
}

// A watcher that does not read is ended; the others hear everything meanwhile.
func TestSlowWatcher(t *testing.T) {
	t.Parallel()
	r := start(t, servers{redis: testkit.OwnRedis(t).URL(), nats: testkit.OwnNATS(t).URL()}, nil)
	slow, quick := r.watch(t, "ana"), r.watch(t, "ana")
	heard := make(chan error, 1)
	const events = 600 // of some 30 KiB, where 8 MiB may wait
	go func() {
		for range events {
			if _, err := quick.stream.Recv(); err != nil {
				heard <- err
				return
			}
		}
		heard <- nil
	}()
	big := registration("ana", "ext", extension)
	big.Info.AvailableTools = make([]string, 240)
	for i := range big.Info.AvailableTools {
		big.Info.AvailableTools[i] = fmt.Sprintf("%0128d", i)
	}
	for range events / 10 {
		r.registerAll(t, slices.Repeat([]*nodev1.Registration{big}, 10)...)
	}
	if err := <-heard; err != nil {
		t.Errorf("the quick one: %v", err)
	}
	if err := slow.end(); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("the slow one: %v", err)
	}
	r.watch(t, "ana") // it may begin again
}

// While the bus is away events would be missed, so watches end; presence goes on.
func TestWatchWithoutBus(t *testing.T) {
	t.Parallel()
	nats := testkit.OwnNATS(t)
	r := start(t, servers{redis: testkit.OwnRedis(t).URL(), nats: nats.URL()}, nil)
	w := r.watch(t, "ana")
	nats.Stop()
	wantUnavailable(t, w.end())
	stream, err := r.WatchNodes(t.Context(), &nodev1.WatchNodesRequest{UserId: "ana"})
	if err == nil {
		_, err = stream.Recv()
	}
	wantUnavailable(t, err)
	r.register(t, "ana", "meanwhile")

	nats.Start()
	testkit.Eventually(t, 20*time.Second, func() bool {
		stream, err := r.WatchNodes(t.Context(), &nodev1.WatchNodesRequest{UserId: "ana"})
		if err != nil {
			return false
		}
		first, err := stream.Recv()
		if err != nil {
			return false
		}
		w = &watcher{t, stream}
		return first.GetEvent().GetKind() == ready
	}, "watching works again")
	epoch := r.register(t, "ana", "ext")
	for {
		// What was announced while the bus was away may come first.
		if e := w.next(); e.GetNode().GetInfo().GetNodeId() == "ext" {
			if e.GetNode().GetEpoch() != epoch {
				t.Errorf("event: %v", e)
			}
			break
		}
	}
}

// A replica starts without the bus and uses it once it is there.
func TestStartWithoutBus(t *testing.T) {
	t.Parallel()
	nats := testkit.OwnNATS(t)
	nats.Stop()
	r := start(t, servers{redis: testkit.OwnRedis(t).URL(), nats: nats.URL()}, nil)
	r.register(t, "ana", "ext")
	nats.Start()
	testkit.Eventually(t, 20*time.Second, func() bool { return len(failing(t, r)) == 0 }, "the replica is ready")
	r.watch(t, "ana")
}

func TestStopEndsWatches(t *testing.T) {
	t.Parallel()
	r := start(t, own(t), nil)
	w := r.watch(t, "ana")
	r.stop()
	err := w.end()
	wantUnavailable(t, err)
	if e := errs.FromGRPC(err); !strings.Contains(e.Error(), string(errs.Draining)) {
		t.Errorf("got %v", e)
	}
}
