package app_test

import (
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/node-registry/app"
	"github.com/hecaton-dev/hecaton/services/node-registry/internal/registrytest"
)

// Twenty register for ten places through two replicas, on every kind of Redis.
func TestTwentyForTenPlaces(t *testing.T) {
	t.Parallel()
	registrytest.Each(t, func(t *testing.T, url string) {
		pods := replicas(t, servers{redis: url, nats: testkit.NATS(t)}, 2, nil)
		var wg sync.WaitGroup
		results := make([]*nodev1.RegisterResult, 20)
		for i := range results {
			wg.Go(func() {
				req := &nodev1.RegisterRequest{Registrations: []*nodev1.Registration{registration("ana", numbered("n", i), extension)}}
				res, err := pods[i%2].Register(t.Context(), req)
				if err != nil {
					t.Error(err)
					return
				}
				results[i] = res.GetResults()[0]
			})
		}
		wg.Wait()
		let := 0
		for _, r := range results {
			switch r.GetOutcome() {
			case registered:
				let++
			case tooMany:
			default:
				t.Errorf("outcome: %v", r)
			}
		}
		if listed := len(pods[0].list(t, "ana")); let != 10 || listed != 10 {
			t.Errorf("%d let in, %d listed", let, listed)
		}
	})
}

func TestAnyReplicaAnswers(t *testing.T) {
	t.Parallel()
	pods := replicas(t, own(t), 2, nil)
	old := pods[0].register(t, "ana", "ext")
	current := pods[1].register(t, "ana", "ext") // the same node, on another pod
	if current <= old {
		t.Errorf("epoch %d after %d", current, old)
	}
	if got := pods[0].beat(t, &nodev1.NodeBeat{UserId: "ana", NodeId: "ext", Epoch: old}); got[0] != beatSuperseded {
		t.Errorf("late heartbeat: %v", got)
	}
	if got := pods[0].deregister(t, &nodev1.NodeRef{UserId: "ana", NodeId: "ext", Epoch: old}); got[0] {
		t.Error("a late close removed the newer connection")
	}
	late := registration("ana", "ext", extension)
	late.Epoch = old
	if got := pods[0].registerAll(t, late)[0]; got.GetOutcome() != superseded {
		t.Errorf("late change of info: %v", got)
	}
	if got := pods[0].list(t, "ana"); !slices.Equal(got, []string{"ext"}) {
		t.Errorf("nodes: %v", got)
	}
	if got := pods[0].deregister(t, &nodev1.NodeRef{UserId: "ana", NodeId: "ext", Epoch: current}); !got[0] {
		t.Error("a close removed nothing")
	}
	if got := pods[1].list(t, "ana"); len(got) != 0 {
		t.Errorf("nodes: %v", got)
	}
}

func TestListNodes(t *testing.T) {
	t.Parallel()
	r := start(t, own(t), nil)
	r.registerAs(t, registration("ana", "desk", desktop))
	r.register(t, "ana", "ext")
	gone := r.register(t, "ana", "gone")
	r.deregister(t, &nodev1.NodeRef{UserId: "ana", NodeId: "gone", Epoch: gone})
	for _, tt := range []struct {
		req  *nodev1.ListNodesRequest
		want []string
	}{
		{&nodev1.ListNodesRequest{UserId: "ana"}, []string{"desk", "ext"}},
		{&nodev1.ListNodesRequest{UserId: "ana", NodeType: desktop}, []string{"desk"}},
		{&nodev1.ListNodesRequest{UserId: "ana", NodeType: extension}, []string{"ext"}},
		{&nodev1.ListNodesRequest{UserId: "ana", IncludeOffline: true}, []string{"desk", "ext", "gone"}},
		{&nodev1.ListNodesRequest{UserId: "ana", IncludeOffline: true, NodeType: desktop}, []string{"desk"}},
		{&nodev1.ListNodesRequest{UserId: "bob", IncludeOffline: true}, []string{}},
	} {
		res, err := r.ListNodes(t.Context(), tt.req)
		if err != nil || !slices.Equal(names(res.GetNodes()), tt.want) {
			t.Errorf("%v: got %v, error %v; want %v", tt.req, names(res.GetNodes()), err, tt.want)
		}
		for _, n := range res.GetNodes() {
			away := n.GetInfo().GetNodeId() == "gone"
			if n.GetIsConnected() == away || (n.GetStatus() == nodev1.NodeStatus_NODE_STATUS_OFFLINE) != away {
				t.Errorf("node: %v", n)
			}
		}
	}
}

// One bad item fails alone.
func TestInvalidItems(t *testing.T) {
	t.Parallel()
	r := start(t, own(t), nil)
	change := func(f func(*nodev1.Registration)) *nodev1.Registration {
		reg := registration("ana", "ext", extension)
		f(reg)
		return reg
	}
	bad := []*nodev1.Registration{
		{},
		change(func(r *nodev1.Registration) { r.UserId = "" }),
		change(func(r *nodev1.Registration) { r.UserId = "a\x00" }),
		change(func(r *nodev1.Registration) { r.UserId = strings.Repeat("x", 257) }),
		change(func(r *nodev1.Registration) { r.Info.NodeId = "a\nb" }),
		change(func(r *nodev1.Registration) { r.Info.NodeType = 0 }),
		change(func(r *nodev1.Registration) { r.Info.NodeName = strings.Repeat("x", 64<<10) }),
		change(func(r *nodev1.Registration) { r.GatewayId = "" }),
		change(func(r *nodev1.Registration) { r.Epoch = -1 }),
		change(func(r *nodev1.Registration) { r.Epoch = 1<<53 + 1 }),
		change(func(r *nodev1.Registration) { r.Status = 77 }),
		change(func(r *nodev1.Registration) { r.ConnectedAt = timestamppb.New(time.Time{}) }),
		change(func(r *nodev1.Registration) { r.ConnectedAt = &timestamppb.Timestamp{Nanos: -5} }),
	}
	results := r.registerAll(t, append(bad, registration("ana", "good", extension))...)
	for i := range bad {
		if got := results[i]; got.GetOutcome() != invalid || got.GetError() == "" || strings.Contains(got.GetError(), "\n") || got.GetEpoch() != 0 {
			t.Errorf("%v: %v", bad[i], got)
		}
	}
	good := results[len(bad)]
	if good.GetOutcome() != registered || !slices.Equal(r.list(t, "ana"), []string{"good"}) {
		t.Errorf("the good one: %v", good)
	}
	beats := r.beat(t, &nodev1.NodeBeat{UserId: "a\x00", NodeId: "ext", Epoch: 1}, &nodev1.NodeBeat{UserId: "ana", Epoch: 1},
		&nodev1.NodeBeat{UserId: "ana", NodeId: "good"}, &nodev1.NodeBeat{UserId: "ana", NodeId: "good", Epoch: good.GetEpoch(), Status: 77})
	if want := []nodev1.BeatResult{beatUnknown, beatUnknown, beatUnknown, beatOK}; !slices.Equal(beats, want) {
		t.Errorf("heartbeats: %v", beats)
	}
	removed := r.deregister(t, &nodev1.NodeRef{UserId: "ana"}, &nodev1.NodeRef{UserId: "ana", NodeId: "good"},
		&nodev1.NodeRef{UserId: "ana", NodeId: "good", Epoch: good.GetEpoch()})
	if !slices.Equal(removed, []bool{false, false, true}) {
		t.Errorf("deregistrations: %v", removed)
	}
	if got := r.registerAll(t); len(got) != 0 {
		t.Errorf("an empty batch: %v", got)
	}
}

func TestMalformedRequests(t *testing.T) {
	t.Parallel()
	r := start(t, own(t), nil)
	ctx, long := t.Context(), strings.Repeat("x", 257)
	for name, call := range map[string]func() error{
		"heartbeat": func() error { _, err := r.Heartbeat(ctx, &nodev1.HeartbeatRequest{}); return err },
		"list":      func() error { _, err := r.ListNodes(ctx, &nodev1.ListNodesRequest{UserId: "a\x01"}); return err },
		"bind no node": func() error {
			_, err := r.BindSession(ctx, &nodev1.BindSessionRequest{UserId: "a", SessionId: "s"})
			return err
		},
		"bind no session": func() error {
			_, err := r.BindSession(ctx, &nodev1.BindSessionRequest{UserId: "a", NodeId: "n"})
			return err
		},
		"session":         func() error { _, err := r.GetSession(ctx, &nodev1.GetSessionRequest{UserId: "a"}); return err },
		"resolve no user": func() error { _, err := r.ResolveNode(ctx, &nodev1.ResolveNodeRequest{SessionId: "s"}); return err },
		"resolve session": func() error {
			_, err := r.ResolveNode(ctx, &nodev1.ResolveNodeRequest{UserId: "a", SessionId: long})
			return err
		},
		"resolve node": func() error {
			_, err := r.ResolveNode(ctx, &nodev1.ResolveNodeRequest{UserId: "a", PreferredNodeId: long})
			return err
		},
		"report": func() error { _, err := r.ReportGateway(ctx, &nodev1.ReportGatewayRequest{}); return err },
		"watch": func() error {
			stream, err := r.WatchNodes(ctx, &nodev1.WatchNodesRequest{UserId: long})
			if err == nil {
				_, err = stream.Recv()
			}
			return err
		},
	} {
		if err := call(); status.Code(err) != codes.InvalidArgument {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// The heartbeats of ten thousand nodes whose ids are as long as may be, in one request.
func TestTenThousandLongIDs(t *testing.T) {
	t.Parallel()
	r := start(t, own(t), nil)
	n := 10_000
	if _, err := exec.LookPath("redis-server"); err != nil {
		n = 2_000 // for more a stand-in may take longer than a request has
	}
	long := strings.Repeat("漢", 80) // 240 bytes, and three times that in a key
	regs, beats := make([]*nodev1.Registration, n), make([]*nodev1.NodeBeat, n)
	for i := range regs {
		regs[i] = registration(numbered(long, i), long, extension)
	}
	for i, res := range r.registerAll(t, regs...) {
		if res.GetOutcome() != registered {
			t.Fatalf("%d: %v", i, res)
		}
		beats[i] = &nodev1.NodeBeat{UserId: numbered(long, i), NodeId: long, Epoch: res.GetEpoch()}
	}
	start := time.Now()
	for i, got := range r.beat(t, beats...) {
		if got != beatOK {
			t.Fatalf("%d: %v", i, got)
		}
	}
	t.Logf("heartbeats took %v", time.Since(start))
}

func TestExpiredNodesAreAbsentAtOnce(t *testing.T) {
	t.Parallel()
	r := start(t, own(t), func(c *app.Config) { c.Lease, c.NodesPerUser = shortLease, 1 }) // and no sweep
	epoch := r.register(t, "ana", "ext")
	testkit.Eventually(t, 10*time.Second, func() bool { return len(r.list(t, "ana")) == 0 }, "the node expires")
	if got := r.beat(t, &nodev1.NodeBeat{UserId: "ana", NodeId: "ext", Epoch: epoch}); got[0] != beatUnknown {
		t.Errorf("heartbeat: %v", got)
	}
	back := registration("ana", "ext", extension)
	back.Epoch = epoch
	if got := r.registerAs(t, back); got != epoch {
		t.Errorf("came back with epoch %d instead of %d", got, epoch)
	}
}
