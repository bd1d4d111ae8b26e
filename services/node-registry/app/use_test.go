package app_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
)

// share tells the replica what one user took through a gateway.
func (r *replica) share(t testing.TB, gateway string, ttl time.Duration, uses ...*nodev1.UserUse) []*nodev1.UserShare {
	t.Helper()
	resp, err := r.ShareUse(t.Context(), &nodev1.ShareUseRequest{GatewayId: gateway, Ttl: durationpb.New(ttl), Users: uses})
	if err != nil || len(resp.GetUsers()) != len(uses) {
		t.Fatalf("%d answers, %v", len(resp.GetUsers()), err)
	}
	return resp.GetUsers()
}

func spent(user string, amount int64) *nodev1.UserUse {
	return &nodev1.UserUse{UserId: user, Spent: []*nodev1.Spent{{Limit: "calls", Amount: amount, PerSecond: 0.001, Burst: 100}}}
}

func places(user string, held, wanted int64) *nodev1.UserUse {
	return &nodev1.UserUse{UserId: user, Places: []*nodev1.Places{{Limit: "streams", Held: held, Wanted: wanted, Most: 10}}}
}

func TestRatesAreSharedByGateways(t *testing.T) {
	t.Parallel()
	r := start(t, own(t), nil)
	left := func(gateway, user string, amount int64) int64 {
		return r.share(t, gateway, time.Second, spent(user, amount))[0].GetLeft()[0]
	}
	if got := left("g1", "ana", 30); got != 70 {
		t.Errorf("%d are left of 100 after 30", got)
	}
	if got := left("g2", "ana", 60); got != 10 {
		t.Errorf("%d are left for the second gateway", got)
	}
	if got := left("g1", "ana", 60); got != -50 {
		t.Errorf("what was taken too much is not owed: %d", got)
	}
	if got := left("g1", "ben", 0); got != 100 {
		t.Errorf("another user has %d", got)
	}
	// What is owed is paid back with time.
	fast := &nodev1.UserUse{UserId: "cleo", Spent: []*nodev1.Spent{{Limit: "calls", Amount: 200, PerSecond: 1000, Burst: 100}}}
	if got := r.share(t, "g1", time.Second, fast)[0].GetLeft()[0]; got != -100 {
		t.Errorf("%d are left", got)
	}
	fast.Spent[0].Amount = 0
	testkit.Eventually(t, 5*time.Second, func() bool { return r.share(t, "g2", time.Second, fast)[0].GetLeft()[0] == 100 }, "the bucket is full again")
}

func TestPlacesAreSharedByGatewaysAndEndWithThem(t *testing.T) {
	t.Parallel()
	r := start(t, own(t), nil)
	granted := func(gateway string, ttl time.Duration, held, wanted int64) int64 {
		return r.share(t, gateway, ttl, places("ana", held, wanted))[0].GetGranted()[0]
	}
	if got := granted("g1", time.Minute, 0, 6); got != 6 {
		t.Errorf("the first gateway has %d of 6", got)
	}
	if got := granted("g2", 200*time.Millisecond, 0, 6); got != 4 {
		t.Errorf("the second gateway has %d of the 4 that are left", got)
	}
	if got := granted("g3", time.Minute, 2, 5); got != 2 {
		t.Errorf("the third has %d, where it held 2 and none was left", got)
	}
	granted("g3", time.Minute, 0, 0)
	// The second gateway is heard of no more.
	testkit.Eventually(t, 5*time.Second, func() bool { return granted("g3", time.Minute, 0, 10) == 4 }, "its places are free")
	granted("g1", time.Minute, 0, 0)
	if got := granted("g3", time.Minute, 4, 20); got != 10 {
		t.Errorf("alone it has %d of 10", got)
	}
}

// Many gateways that ask at once are never granted more than there is.
func TestPlacesAreNeverGrantedTwice(t *testing.T) {
	t.Parallel()
	r := start(t, own(t), nil)
	var mu sync.Mutex
	var total int64
	var work sync.WaitGroup
	for i := range 20 {
		work.Go(func() {
			n := r.share(t, numbered("g", i), time.Minute, places("ana", 0, 3))[0].GetGranted()[0]
			mu.Lock()
			defer mu.Unlock()
			total += n
		})
	}
	work.Wait()
	if total != 10 {
		t.Errorf("%d places of 10 were granted", total)
	}
}

func TestUseThatCannotBeIsRefused(t *testing.T) {
	t.Parallel()
	r := start(t, own(t), nil)
	bad := []*nodev1.UserUse{
		{UserId: ""},
		{UserId: "ana", Spent: []*nodev1.Spent{{Limit: "a:b", PerSecond: 1, Burst: 1}}},
		{UserId: "ana", Spent: []*nodev1.Spent{{Limit: "calls", Amount: -1, PerSecond: 1, Burst: 1}}},
		{UserId: "ana", Spent: []*nodev1.Spent{{Limit: "calls", Burst: 1}}},
		{UserId: "ana", Places: []*nodev1.Places{{Limit: "streams", Held: 2, Wanted: 1, Most: 9}}},
	}
	answers := r.share(t, "g", time.Second, append(slices.Clone(bad), spent("ben", 1))...)
	for i := range bad {
		if answers[i].GetError() == "" {
			t.Errorf("%v was taken: %v", bad[i], answers[i])
		}
	}
	if last := answers[len(bad)]; last.GetError() != "" || last.GetLeft()[0] != 99 {
		t.Errorf("their neighbour: %v", last)
	}
	_, err := r.ShareUse(t.Context(), &nodev1.ShareUseRequest{GatewayId: "g"})
	if status.Code(err) != codes.InvalidArgument {
		t.Errorf("without a ttl: %v", err)
	}
}
