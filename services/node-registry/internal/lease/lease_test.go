package lease_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/node-registry/internal/lease"
	"github.com/hecaton-dev/hecaton/services/node-registry/internal/registrytest"
	"github.com/hecaton-dev/hecaton/services/node-registry/internal/store"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// recorder is an announcer that remembers.
type recorder struct {
	mu     sync.Mutex
	events []*nodev1.NodeEvent
}

func (r *recorder) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.events)
}

func (r *recorder) Announce(_ context.Context, events []*nodev1.NodeEvent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, events...)
}

// A caller that gave up does not keep what changed from being announced.
func TestChangeOutlivesItsCaller(t *testing.T) {
	t.Parallel()
	said := &recorder{}
	s := registrytest.Store(t, testkit.Redis(t), store.DefaultRules)
	k := lease.NewKeeper(s, said, prometheus.NewRegistry())
	gone, cancel := context.WithCancel(t.Context())
	cancel()

	info, err := store.NewInfo(&nodev1.NodeInfo{NodeId: "ext", NodeType: nodev1.NodeType_NODE_TYPE_EXTENSION})
	if err != nil {
		t.Fatal(err)
	}
	node := ids.Node{User: ids.UserID(testkit.Prefix(t)), Node: "ext"}
	reg := k.Register(gone, []store.Registration{{User: node.User, Gateway: "gw-1", Info: info}})[0]
	beat := k.Heartbeat(gone, []store.Beat{{Node: node, Epoch: reg.Epoch, Status: nodev1.NodeStatus_NODE_STATUS_BUSY}})[0]
	ref := k.Deregister(gone, "gw-1", []store.Ref{{Node: node, Epoch: reg.Epoch}})[0]
	if err := errors.Join(reg.Err, beat.Err, ref.Err); err != nil {
		t.Fatal(err)
	}
	var kinds []nodev1.NodeEvent_Kind
	for _, e := range said.events {
		kinds = append(kinds, e.GetKind())
	}
	if want := []nodev1.NodeEvent_Kind{nodev1.NodeEvent_KIND_ONLINE, nodev1.NodeEvent_KIND_UPDATED, nodev1.NodeEvent_KIND_OFFLINE}; !slices.Equal(kinds, want) {
		t.Errorf("announced %v", kinds)
	}
}

// fleet is a store with many expired users, of whom some cannot be swept.
type fleet struct {
	waiting []ids.UserID
	broken  map[ids.UserID]bool
	settled map[ids.UserID]time.Time
	claims  atomic.Int32
	fail    error
}

func (f *fleet) Claim(_ context.Context, max int, _ time.Duration) (store.Claim, error) {
	f.claims.Add(1)
	if f.fail != nil {
		return store.Claim{}, f.fail
	}
	n := min(max, len(f.waiting))
	claim := store.Claim{Users: f.waiting[:n]}
	f.waiting = f.waiting[n:]
	return claim, nil
}

func (f *fleet) Sweep(_ context.Context, users []ids.UserID) []store.Swept {
	out := make([]store.Swept, len(users))
	for i, u := range users {
		if f.broken[u] {
			out[i].Err = errors.New("broken")
			continue
		}
		out[i].Events = []*nodev1.NodeEvent{{UserId: string(u), Kind: nodev1.NodeEvent_KIND_OFFLINE}}
	}
	return out
}

func (f *fleet) Settle(_ context.Context, _ store.Claim, next map[ids.UserID]time.Time) error {
	for u, at := range next {
		f.settled[u] = at
	}
	return nil
}

func TestSweepTakesAllAndSkipsTheBroken(t *testing.T) {
	t.Parallel()
	f := &fleet{broken: map[ids.UserID]bool{"7": true}, settled: map[ids.UserID]time.Time{}}
	for i := range 1234 {
		f.waiting = append(f.waiting, ids.UserID(strconv.Itoa(i)))
	}
	said, reg := &recorder{}, prometheus.NewRegistry()
	err := newSweeper(t, lease.SweeperOptions{Expiries: f, Announcer: said, Every: time.Minute, Metrics: reg}).Sweep(t.Context())
	if err == nil {
		t.Error("the broken user is not told of")
	}
	if len(said.events) != 1233 || len(f.settled) != 1233 || len(f.waiting) != 0 {
		t.Errorf("%d announced, %d settled, %d left", len(said.events), len(f.settled), len(f.waiting))
	}
	if _, ok := f.settled["7"]; ok {
		t.Error("the broken user is not looked at again")
	}
	if n := testutil.CollectAndCount(reg, "hecaton_registry_nodes_expired_total"); n != 1 {
		t.Errorf("%d metrics", n)
	}
}

func newSweeper(t *testing.T, o lease.SweeperOptions) *lease.Sweeper {
	t.Helper()
	s, err := lease.NewSweeper(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSweeperNeedsAnInterval(t *testing.T) {
	t.Parallel()
	if _, err := lease.NewSweeper(lease.SweeperOptions{Expiries: &fleet{}, Announcer: &recorder{}, Every: time.Microsecond, Metrics: prometheus.NewRegistry()}); err == nil {
		t.Error("it would never rest")
	}
}

// Sweeps come at their interval, a failing one too, and end with their context.
func TestSweeperRuns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fleet{fail: errors.New("away")}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		sweeper := newSweeper(t, lease.SweeperOptions{Expiries: f, Announcer: &recorder{}, Every: 30 * time.Second, Metrics: prometheus.NewRegistry()})
		go func() { done <- sweeper.Run(ctx) }()
		for i := 1; i <= 3; i++ {
			testkit.Advance(30 * time.Second)
			if got := f.claims.Load(); got != int32(i) {
				t.Fatalf("%d sweeps after %d intervals", got, i)
			}
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}
