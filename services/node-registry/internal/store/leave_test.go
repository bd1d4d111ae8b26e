package store_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/node-registry/internal/store"
)

func testGone(f *fixture) {
	s := f.shortLived()
	closed := f.register(f.store, "ana", "closed")
	f.register(s, "ana", "expired")
	f.register(f.store, "ana", "live")
	f.deregister(f.store, "ana", "closed", closed)
	all := []string{"closed", "expired", "live"}
	testkit.Eventually(f, 10*time.Second, func() bool {
		return slices.Equal(names(f.nodes(s, "ana")), []string{"live"}) && slices.Equal(names(f.nodesAndGone(s, "ana")), all)
	}, "one is left, two are gone")

	check := func() {
		f.Helper()
		nodes := f.nodesAndGone(s, "ana")
		if got := names(nodes); !slices.Equal(got, all) {
			f.Fatalf("nodes: %v", got)
		}
		for _, n := range nodes[:2] {
			if n.GetIsConnected() || n.GetStatus() != nodev1.NodeStatus_NODE_STATUS_OFFLINE || n.GetGatewayId() != "" ||
				!strings.HasPrefix(n.GetInfo().GetNodeName(), "name of ") || n.GetEpoch() == 0 || n.GetConnectedAt() == nil ||
				time.Since(n.GetLastSeenAt().AsTime()) > time.Minute {
				f.Errorf("gone: %v", n)
			}
		}
	}
	check() // before a sweep
	s.Sweep(f.ctx, []ids.UserID{"ana"})
	check() // and after
	f.register(f.store, "ana", "closed")
	if got := names(f.nodesAndGone(s, "ana")); !slices.Equal(got, []string{"expired", "live", "closed"}) {
		f.Errorf("nodes: %v", got)
	}
}

func testGoneIsBounded(f *fixture) {
	for i := range 40 {
		name := numbered("n", i)
		f.deregister(f.store, "ana", name, f.register(f.store, "ana", name))
	}
	got := names(f.nodesAndGone(f.store, "ana"))
	if len(got) != 16 || slices.Contains(got, "n-0") || !slices.Contains(got, "n-39") {
		f.Errorf("remembered: %v", got)
	}
	if n := f.client.HLen(f.ctx, "hecaton:{ana}:last").Val(); n != 16 {
		f.Errorf("%d entries are kept", n)
	}
}

// Three replicas sweep at once, again and again: each expiry is announced once, by one of them.
func testSweep(f *fixture) {
	const users, perUser = 60, 2
	s := f.shortLived()
	for i := range users {
		for j := range perUser {
			f.register(s, numbered("user", i), numbered("n", j))
		}
	}
	f.register(f.store, "user-0", "stays")
	for i := range users {
		if i > 0 {
			f.awaitExpiry(s, numbered("user", i))
		}
	}
	var mu sync.Mutex
	seen := map[string]int{}
	sweep := func(s *store.Store) {
		claim, err := s.Claim(f.ctx, 7, time.Minute)
		if err != nil {
			f.Error(err)
		}
		next := map[ids.UserID]time.Time{}
		for i, swept := range s.Sweep(f.ctx, claim.Users) {
			if swept.Err != nil {
				f.Error(swept.Err)
			}
			next[claim.Users[i]] = swept.Next
			for _, e := range swept.Events {
				if e.GetKind() != offline || !strings.HasPrefix(e.GetNode().GetInfo().GetNodeName(), "name of ") {
					f.Errorf("event: %v", e)
				}
				mu.Lock()
				seen[e.GetUserId()+"/"+e.GetNode().GetInfo().GetNodeId()]++
				mu.Unlock()
			}
		}
		if err := s.Settle(f.ctx, claim, next); err != nil {
			f.Error(err)
		}
	}
	var wg sync.WaitGroup
	for range 3 {
		replica := f.shortLived()
		wg.Go(func() {
			for range users {
				sweep(replica)
			}
		})
	}
	wg.Wait()
	if len(seen) != users*perUser {
		f.Errorf("%d of %d were announced", len(seen), users*perUser)
	}
	for node, times := range seen {
		if times != 1 {
			f.Errorf("%s was announced %d times", node, times)
		}
	}
	// The one user who has a node left is looked at again when its lease ends; the others are forgotten.
	due := f.client.ZRangeWithScores(f.ctx, "hecaton:users", 0, -1).Val()
	if len(due) != 1 || due[0].Member != "user-0" || time.Until(time.UnixMilli(int64(due[0].Score))) < 30*time.Second {
		f.Errorf("due: %v", due)
	}
}

// A user registers while a sweep that found no node is about to forget the user.
func testSweepAndRegistration(f *fixture) {
	s := f.shortLived()
	f.deregister(s, "ana", "ext", f.register(s, "ana", "ext"))
	claim, err := s.Claim(f.ctx, 10, time.Minute)
	if err != nil || len(claim.Users) != 1 {
		f.Fatalf("claim %v, error %v", claim, err)
	}
	swept := s.Sweep(f.ctx, claim.Users)[0]
	if !swept.Next.IsZero() {
		f.Fatalf("swept: %v", swept)
	}
	f.register(s, "ana", "ext")
	if err := s.Settle(f.ctx, claim, map[ids.UserID]time.Time{"ana": swept.Next}); err != nil {
		f.Fatal(err)
	}
	f.awaitExpiry(s, "ana")
	again, err := s.Claim(f.ctx, 10, time.Minute)
	if err != nil || len(again.Users) != 1 {
		f.Errorf("the user is not due any more: %v, error %v", again, err)
	}
}

// A replica that dies between claim and settle loses nothing: the users are due again when the claim ends.
func testAbandonedClaim(f *fixture) {
	s := f.shortLived()
	f.register(s, "ana", "ext")
	f.awaitExpiry(s, "ana")
	if claim, err := s.Claim(f.ctx, 10, 200*time.Millisecond); err != nil || len(claim.Users) != 1 {
		f.Fatalf("claim %v, error %v", claim, err)
	}
	if claim, err := s.Claim(f.ctx, 10, time.Minute); err != nil || len(claim.Users) != 0 {
		f.Fatalf("claimed twice: %v, error %v", claim, err)
	}
	testkit.Eventually(f, 10*time.Second, func() bool {
		claim, err := s.Claim(f.ctx, 10, time.Minute)
		return err == nil && len(claim.Users) == 1
	}, "the claim ends")
}

// An entry of a node that expired and came back before any sweep is no expired one any more.
func testExpiredEntryLeftBehind(f *fixture) {
	s := f.shortLived()
	epoch := f.register(s, "ana", "ext")
	f.awaitExpiry(s, "ana")
	f.wantRegistered(f.registerAs(f.store, "ana", "ext", epoch), registered, online)
	if swept := s.Sweep(f.ctx, []ids.UserID{"ana"})[0]; len(swept.Events) != 0 || swept.Next.IsZero() {
		f.Errorf("swept a live node: %v", swept)
	}
	// The close of an expired connection is a close: no sweep announces it again.
	epoch = f.register(s, "bob", "ext")
	f.awaitExpiry(s, "bob")
	if event := f.deregister(s, "bob", "ext", epoch); event.GetKind() != offline {
		f.Errorf("event: %v", event)
	}
	if swept := s.Sweep(f.ctx, []ids.UserID{"bob"})[0]; len(swept.Events) != 0 {
		f.Errorf("announced twice: %v", swept)
	}
}

// Whatever a user leaves behind ends by itself; only the two indexes stay, and sweeps and reports clean those.
func testEverythingHasAnEnd(f *fixture) {
	f.register(f.store, "ana", "ext")
	f.deregister(f.store, "ana", "two", f.register(f.store, "ana", "two"))
	if _, err := f.store.Bind(f.ctx, "ana", "s", "ext"); err != nil {
		f.Fatal(err)
	}
	if _, err := f.store.ReportGateway(f.ctx, "gw", &nodev1.GatewayStats{}, time.Second); err != nil {
		f.Fatal(err)
	}
	limits := map[string]time.Duration{"hecaton:{ana}:node:ext": time.Minute, "hecaton:{ana}:session:s": 24 * time.Hour, "hecaton:gateway:gw": time.Second}
	found := map[string]time.Duration{}
	for _, key := range allKeys(f) {
		found[key] = f.client.PTTL(f.ctx, key).Val()
		if endless := key == "hecaton:users" || key == "hecaton:gateways"; endless != (found[key] < 0) {
			f.Errorf("%s lives for %v", key, found[key])
		}
	}
	for key, limit := range limits {
		if ttl := found[key]; ttl <= 0 || ttl > limit {
			f.Errorf("%s lives for %v, want at most %v", key, ttl, limit)
		}
	}
	want := []string{"hecaton:gateway:gw", "hecaton:gateway:gw-1:nodes", "hecaton:gateways", "hecaton:users", "hecaton:{ana}:epoch:ext", "hecaton:{ana}:epoch:two",
		"hecaton:{ana}:gone", "hecaton:{ana}:last", "hecaton:{ana}:node:ext", "hecaton:{ana}:nodes", "hecaton:{ana}:session:s"}
	if got := allKeys(f); !slices.Equal(got, want) {
		f.Errorf("keys:\n got %q\nwant %q", got, want)
	}
}

func allKeys(f *fixture) []string {
	f.Helper()
	var mu sync.Mutex
	var keys []string
	collect := func(ctx context.Context, c *redis.Client) error {
		mu.Lock()
		defer mu.Unlock()
		keys = append(keys, c.Keys(ctx, "*").Val()...)
		return nil
	}
	switch c := f.client.(type) {
	case *redis.ClusterClient:
		_ = c.ForEachMaster(f.ctx, collect)
	case *redis.Client:
		_ = collect(f.ctx, c)
	}
	slices.Sort(keys)
	return keys
}
