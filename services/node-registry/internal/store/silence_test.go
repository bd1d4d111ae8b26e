package store_test

import (
	"slices"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/node-registry/internal/store"
)

const unseen = 200 * time.Millisecond

// impatient is a store that takes nodes for unseen at once.
func (f *fixture) impatient() *store.Store {
	return f.with(func(r *store.Rules) { r.Unseen = unseen })
}

func (f *fixture) report(s *store.Store, gateway ids.GatewayID, ttl time.Duration) {
	f.Helper()
	if _, err := s.ReportGateway(f.ctx, gateway, &nodev1.GatewayStats{}, ttl); err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) silentGateways(s *store.Store) []ids.GatewayID {
	f.Helper()
	silent, err := s.Silent(f.ctx)
	if err != nil {
		f.Fatal(err)
	}
	return silent
}

// vacate ends what it can of a gateway, and returns the nodes that left.
func (f *fixture) vacate(s *store.Store, gateway ids.GatewayID) (left []string) {
	f.Helper()
	for more := true; more; {
		v, err := s.Vacate(f.ctx, gateway, 100)
		if err != nil {
			f.Fatal(err)
		}
		more = v.More
		for _, e := range v.Events {
			if e.GetKind() != offline || e.GetNode().GetIsConnected() || e.GetNode().GetInfo().GetNodeName() == "" {
				f.Errorf("announced %v", e)
			}
			left = append(left, e.GetUserId()+"/"+e.GetNode().GetInfo().GetNodeId())
		}
	}
	slices.Sort(left)
	return left
}

func testSilentGateway(f *fixture) {
	s := f.impatient()
	f.report(s, "gw-1", time.Millisecond)
	f.report(s, "gw-2", time.Minute)
	epochs := map[string]ids.Epoch{}
	for _, node := range []string{"stays", "moved", "closed", "a", "b"} {
		epochs[node] = f.register(s, "ana", node)
	}
	f.register(s, "bob {*} %", "c")
	moved := f.registration("ana", "moved")
	moved.Gateway = "gw-2"
	f.wantRegistered(s.Register(f.ctx, []store.Registration{moved})[0], registered, online)
	f.deregister(s, "ana", "closed", epochs["closed"])
	testkit.Eventually(f, 10*time.Second, func() bool { return slices.Equal(f.silentGateways(s), []ids.GatewayID{"gw-1"}) }, "it is silent")
	testkit.Pass(2 * unseen) // the clock is Redis's own
	f.wantBeat(s, "ana", "stays", epochs["stays"], beatOK)
	if left := f.vacate(s, "gw-1"); !slices.Equal(left, []string{"ana/a", "ana/b", "bob {*} %/c"}) {
		f.Errorf("left: %v", left)
	}
	if got := names(f.nodes(s, "ana")); !slices.Equal(got, []string{"stays", "moved"}) {
		f.Errorf("live: %v", got)
	}
	if got := names(f.nodesAndGone(s, "bob {*} %")); !slices.Equal(got, []string{"c"}) {
		f.Errorf("listed: %v", got)
	}
	if left := f.vacate(s, "gw-1"); len(left) != 0 {
		f.Errorf("left again: %v", left)
	}
	if err := s.Forget(f.ctx, "gw-1"); err != nil || len(f.silentGateways(s)) != 0 {
		f.Errorf("it is not forgotten: %v", err)
	}
}

func testGatewayThatIsBack(f *fixture) {
	s := f.impatient()
	f.report(s, "gw-1", time.Millisecond)
	epoch := f.register(s, "ana", "n")
	testkit.Eventually(f, 10*time.Second, func() bool { return len(f.vacate(s, "gw-1")) == 1 }, "its node leaves")
	f.report(s, "gw-1", time.Minute)
	if err := s.Forget(f.ctx, "gw-1"); err != nil {
		f.Fatal(err)
	}
	f.wantBeat(s, "ana", "n", epoch, beatUnknown)
	again := f.registerAs(s, "ana", "n", epoch)
	f.wantRegistered(again, registered, online)
	if again.Epoch != epoch {
		f.Errorf("the connection has epoch %d, had %d", again.Epoch, epoch)
	}
	// It counts as before.
	f.report(s, "gw-1", time.Millisecond)
	testkit.Eventually(f, 10*time.Second, func() bool { return len(f.silentGateways(s)) == 1 && len(f.vacate(s, "gw-1")) == 1 }, "it leaves again")
}
