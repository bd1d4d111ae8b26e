package store_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/node-registry/internal/registrytest"
	"github.com/hecaton-dev/hecaton/services/node-registry/internal/store"
)

func (f *fixture) session(s *store.Store, user, session string, inUse bool) store.Session {
	f.Helper()
	got, err := s.Session(f.ctx, ids.UserID(user), ids.SessionID(session), inUse)
	if err != nil {
		f.Fatal(err)
	}
	return got
}

func boundIsLive(s store.Session) bool { return slices.Contains(s.Live, s.Bound) }

func testSession(f *fixture) {
	if _, err := f.store.Bind(f.ctx, "ana", "s", "never"); !errors.Is(err, store.ErrNeverSeen) {
		f.Errorf("bound to a node never seen: %v", err)
	}
	if got := f.session(f.store, "ana", "s", true); got.Bound != "" || got.Last != nil || len(got.Live) != 0 {
		f.Errorf("unbound session: %v", got)
	}
	epoch := f.register(f.store, "ana", "ext")
	f.register(f.store, "bob", "ext2")
	if _, err := f.store.Bind(f.ctx, "ana", "s", "ext2"); !errors.Is(err, store.ErrNeverSeen) {
		f.Errorf("bound to a node of another user: %v", err)
	}
	if _, err := f.store.Bind(f.ctx, "ana", "s", "ext"); err != nil {
		f.Fatal(err)
	}
	if got := f.session(f.store, "ana", "s", true); got.Bound != "ext" || !boundIsLive(got) || got.Last.GetInfo().GetNodeName() != "name of ext" {
		f.Errorf("bound session: %v", got)
	}
	if got := f.session(f.store, "bob", "s", true); got.Bound != "" {
		f.Errorf("another user's session of that name is bound: %v", got)
	}
	// A connection that lasts longer than its epoch is remembered was seen all the same.
	f.client.Del(f.ctx, "hecaton:{bob}:epoch:ext2")
	if _, err := f.store.Bind(f.ctx, "bob", "s3", "ext2"); err != nil {
		f.Errorf("bind to a node of a long life: %v", err)
	}
	// The binding outlives its node, and a node that went may be bound to.
	f.deregister(f.store, "ana", "ext", epoch)
	if got := f.session(f.store, "ana", "s", true); got.Bound != "ext" || boundIsLive(got) ||
		got.Last.GetInfo().GetNodeType() != nodev1.NodeType_NODE_TYPE_EXTENSION || got.Last.GetIsConnected() {
		f.Errorf("session of a node that went: %v", got)
	}
	if _, err := f.store.Bind(f.ctx, "ana", "s2", "ext"); err != nil {
		f.Errorf("bind to a node that went: %v", err)
	}
}

func testSessionTTL(f *fixture) {
	s := f.with(func(r *store.Rules) { r.SessionTTL = shortLease })
	f.register(s, "ana", "ext")
	if _, err := s.Bind(f.ctx, "ana", "used", "ext"); err != nil {
		f.Fatal(err)
	}
	for until := time.Now().Add(2 * shortLease); time.Now().Before(until); {
		if f.session(s, "ana", "used", true).Bound != "ext" {
			f.Fatal("a session that is used was forgotten")
		}
	}
	// Looking is not using.
	testkit.Eventually(f, 10*time.Second, func() bool { return f.session(s, "ana", "used", false).Bound == "" }, "the binding ends")
}

func testAdopt(f *fixture) {
	other := f.with(func(*store.Rules) {})
	for round := range 20 {
		session := ids.SessionID(numbered("s", round))
		var wg sync.WaitGroup
		var got [2]ids.NodeID
		for i, s := range []*store.Store{f.store, other} {
			wg.Go(func() {
				var err error
				if got[i], err = s.Adopt(f.ctx, "ana", session, ids.NodeID(numbered("n", i))); err != nil {
					f.Error(err)
				}
			})
		}
		wg.Wait()
		if got[0] != got[1] || got[0] == "" {
			f.Fatalf("two replicas bound one session to %q and %q", got[0], got[1])
		}
	}
}

func testGateways(f *fixture) {
	if total, n, err := f.store.GatewayTotals(f.ctx); err != nil || n != 0 || total.GetPendingRequests() != 0 {
		f.Errorf("without reports: %v of %d, error %v", total, n, err)
	}
	report := func(id string, n int32, ttl time.Duration) (known bool) {
		f.Helper()
		stats := &nodev1.GatewayStats{ExtensionConnections: n, DesktopConnections: 2 * n, WebConnections: 3 * n, PendingRequests: 4 * n}
		known, err := f.store.ReportGateway(f.ctx, ids.GatewayID(id), stats, ttl)
		if err != nil {
			f.Fatal(err)
		}
		return known
	}
	if report("gw-1", 100, time.Minute) {
		f.Error("the first report of a gateway follows an earlier one")
	}
	if !report("gw-1", 1, time.Minute) { // replaces the first
		f.Error("the second report does not know of the first")
	}
	report("gw 2 {}*", 10, shortLease)
	total, n, err := f.store.GatewayTotals(f.ctx)
	if err != nil || n != 2 || total.GetExtensionConnections() != 11 || total.GetDesktopConnections() != 22 ||
		total.GetWebConnections() != 33 || total.GetPendingRequests() != 44 {
		f.Errorf("total %v of %d, error %v", total, n, err)
	}
	testkit.Eventually(f, 10*time.Second, func() bool {
		total, n, err = f.store.GatewayTotals(f.ctx)
		return err == nil && n == 1 && total.GetExtensionConnections() == 1
	}, "the second report ends")
	testkit.Eventually(f, 10*time.Second, func() bool {
		for _, id := range f.silentGateways(f.store) {
			if err := f.store.Forget(f.ctx, id); err != nil {
				f.Fatal(err)
			}
		}
		return f.client.ZCard(f.ctx, "hecaton:gateways").Val() == 1
	}, "it is silent, and forgotten")
}

var hostile = []string{"a", "a.b", "*", ">", "a b", "ü-漢-🙂", "}", "{", "{}", "a}:node:b", "a:b", "../../etc", "=", "=61", "%7d",
	"nodes", "node:x", strings.Repeat("}", ids.MaxBytes), strings.Repeat("x", ids.MaxBytes), "a\\b", "'", `"`, "$(id)", "İ", " a ", "a "}

// variant is another hostile id, as long as id.
func variant(id string) string {
	runes := []rune(id)
	runes[len(runes)-1] = 'x'
	return string(runes)
}

// Every id is a user, a node and a session at once; nobody sees anything of another.
func testHostileIDs(f *fixture) {
	epochs := map[string]ids.Epoch{}
	for _, user := range hostile {
		for _, node := range []string{user, variant(user)} {
			epochs[user+"\n"+node] = f.register(f.store, user, node)
		}
		if _, err := f.store.Bind(f.ctx, ids.UserID(user), ids.SessionID(user), ids.NodeID(user)); err != nil {
			f.Fatal(err)
		}
	}
	for _, user := range hostile {
		nodes := f.nodes(f.store, user)
		if want := slices.Compact([]string{user, variant(user)}); !slices.Equal(names(nodes), want) {
			f.Errorf("nodes of %q: %q", user, names(nodes))
		}
		if got := f.session(f.store, user, user, false); got.Bound != ids.NodeID(user) || !boundIsLive(got) {
			f.Errorf("session of %q: %v", user, got)
		}
		f.wantBeat(f.store, user, user, epochs[user+"\n"+user], beatOK)
	}
	for _, user := range hostile {
		for _, other := range hostile {
			if other != user {
				if got := f.session(f.store, user, other, false); got.Bound != "" {
					f.Errorf("user %q sees session %q", user, other)
				}
			}
		}
	}
	gone := hostile[0]
	f.deregister(f.store, gone, gone, epochs[gone+"\n"+gone])
	for _, user := range hostile[1:] {
		f.wantBeat(f.store, user, user, epochs[user+"\n"+user], beatOK)
	}
}

// A Redis that was restarted knows no script; single runs and batches both go on.
func testScriptsForgotten(f *fixture) {
	forget := func() {
		f.Helper()
		flush := func(ctx context.Context, c *redis.Client) error { return c.ScriptFlush(ctx).Err() }
		var err error
		switch c := f.client.(type) {
		case *redis.ClusterClient:
			err = c.ForEachMaster(f.ctx, flush)
		case *redis.Client:
			err = flush(f.ctx, c)
		}
		if err != nil {
			f.Fatal(err)
		}
	}
	forget()
	var regs []store.Registration
	for i := range 1200 {
		regs = append(regs, f.registration(numbered("user", i), "ext"))
	}
	for _, r := range f.store.Register(f.ctx, regs) {
		f.wantRegistered(r, registered, online)
	}
	forget()
	if got := len(f.nodes(f.store, "user-7")); got != 1 {
		f.Errorf("%d nodes", got)
	}
}

// A key that holds what it should not fails its own item only, and does not pass for a Redis that is away.
func testBrokenNeighbour(f *fixture) {
	epoch := f.register(f.store, "ana", "ext")
	f.client.Set(f.ctx, "hecaton:{bob}:nodes", "no zset", 0)
	f.client.Set(f.ctx, "hecaton:{bob}:node:ext", "no hash", 0)

	got := f.store.Register(f.ctx, []store.Registration{f.registration("bob", "ext"), f.registration("eva", "ext")})
	f.wantRegistered(got[1], registered, online)
	if got[0].Err == nil || errors.Is(got[0].Err, errs.BusUnavailable) {
		f.Errorf("broken registration: %v", got[0].Err)
	}
	beats := f.store.Heartbeat(f.ctx, []store.Beat{{Node: nodeOf("bob", "ext"), Epoch: 1}, {Node: nodeOf("ana", "ext"), Epoch: epoch}})
	if beats[0].Err == nil || beats[1].Result != beatOK {
		f.Errorf("heartbeats: %v", beats)
	}
	refs := f.store.Deregister(f.ctx, "gw-1", []store.Ref{{Node: nodeOf("bob", "ext"), Epoch: 1}, {Node: nodeOf("ana", "ext"), Epoch: epoch}})
	if refs[0].Err == nil || refs[1].Event == nil {
		f.Errorf("deregistrations: %v", refs)
	}
	swept := f.store.Sweep(f.ctx, []ids.UserID{"bob", "ana"})
	if swept[0].Err == nil || swept[1].Err != nil {
		f.Errorf("sweeps: %v", swept)
	}
}

func TestRedisStopped(t *testing.T) {
	t.Parallel()
	server := testkit.OwnRedis(t)
	s := registrytest.Store(t, server.URL(), store.DefaultRules)
	if err := s.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	server.Stop()
	start := time.Now()
	beats := make([]store.Beat, 10_000)
	for i := range beats {
		beats[i].Node = nodeOf("ana", numbered("n", i))
	}
	for i, b := range s.Heartbeat(t.Context(), beats) {
		if !errors.Is(b.Err, errs.BusUnavailable) {
			t.Fatalf("%d: %v", i, b.Err)
		}
	}
	_, err := s.Nodes(t.Context(), "ana")
	if !errors.Is(err, errs.BusUnavailable) {
		t.Error(err)
	}
	if strings.Contains(errs.FromGRPC(err).Error(), server.Addr()) {
		t.Errorf("the message tells an address: %v", err)
	}
	if took := time.Since(start); took > 3*time.Second {
		t.Errorf("took %v to fail", took)
	}
	server.Start()
	if _, err := s.Nodes(t.Context(), "ana"); err != nil {
		t.Errorf("first call after the return: %v", err)
	}
}

func TestCancelledCaller(t *testing.T) {
	t.Parallel()
	s := registrytest.Store(t, testkit.Redis(t), store.DefaultRules)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Nodes(ctx, "ana"); !errors.Is(err, context.Canceled) || errors.Is(err, errs.BusUnavailable) {
		t.Errorf("got %v", err)
	}
}
