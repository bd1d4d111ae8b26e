package store_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/node-registry/internal/registrytest"
	"github.com/hecaton-dev/hecaton/services/node-registry/internal/store"
)

const (
	registered = nodev1.RegisterResult_OUTCOME_REGISTERED
	superseded = nodev1.RegisterResult_OUTCOME_SUPERSEDED
	tooMany    = nodev1.RegisterResult_OUTCOME_TOO_MANY_NODES

	beatOK         = nodev1.BeatResult_BEAT_RESULT_OK
	beatUnknown    = nodev1.BeatResult_BEAT_RESULT_UNKNOWN
	beatSuperseded = nodev1.BeatResult_BEAT_RESULT_SUPERSEDED

	online  = nodev1.NodeEvent_KIND_ONLINE
	updated = nodev1.NodeEvent_KIND_UPDATED
	offline = nodev1.NodeEvent_KIND_OFFLINE
	silent  = nodev1.NodeEvent_KIND_UNSPECIFIED
)

// shortLease is long enough for a test to act within it on a slow machine, and short enough to wait for its end.
const shortLease = 800 * time.Millisecond

// TestContract is what every kind of Redis has to do. The cases of one kind run one after the other, each on an empty
// Redis.
func TestContract(t *testing.T) {
	t.Parallel()
	cases := map[string]func(*fixture){
		"register":                    testRegister,
		"epochs":                      testEpochs,
		"change of info":              testChangeOfInfo,
		"expiry":                      testExpiry,
		"late close and heartbeat":    testLate,
		"newer came and went":         testNewerCameAndWent,
		"accepted before":             testAcceptedBefore,
		"unheard registration":        testUnheardRegistration,
		"closed stays closed":         testClosedStaysClosed,
		"emptied":                     testEmptied,
		"emptied with two":            testEmptiedWithTwoConnections,
		"limit":                       testLimit,
		"heartbeat":                   testHeartbeat,
		"gone":                        testGone,
		"gone is bounded":             testGoneIsBounded,
		"sweep":                       testSweep,
		"sweep and registration":      testSweepAndRegistration,
		"abandoned claim":             testAbandonedClaim,
		"session":                     testSession,
		"session ttl":                 testSessionTTL,
		"adopt":                       testAdopt,
		"gateways":                    testGateways,
		"silent gateway":              testSilentGateway,
		"gateway that is back":        testGatewayThatIsBack,
		"hostile ids":                 testHostileIDs,
		"scripts forgotten":           testScriptsForgotten,
		"broken neighbour":            testBrokenNeighbour,
		"large batch":                 testLargeBatch,
		"everything has an end":       testEverythingHasAnEnd,
		"nodes that were there":       testNodesThatWereThere,
		"expired entry left behind":   testExpiredEntryLeftBehind,
		"first connected comes first": testOrder,
		"tools":                       testTools,
		"a sweep keeps tools":         testSweepKeepsTools,
	}
	registrytest.Each(t, func(t *testing.T, url string) {
		client := registrytest.Client(t, url)
		for name, test := range cases {
			t.Run(name, func(t *testing.T) {
				registrytest.Flush(t, client)
				test(&fixture{T: t, ctx: t.Context(), url: url, client: client, store: registrytest.Store(t, url, store.DefaultRules)})
			})
		}
	})
}

// fixture is one case's view of an empty Redis.
type fixture struct {
	*testing.T
	ctx    context.Context
	url    string
	client redis.UniversalClient
	store  *store.Store // with the default rules
}

// with returns another replica's store, with rules of its own.
func (f *fixture) with(change func(*store.Rules)) *store.Store {
	f.Helper()
	rules := store.DefaultRules
	change(&rules)
	return registrytest.Store(f, f.url, rules)
}

func (f *fixture) shortLived() *store.Store {
	f.Helper()
	return f.with(func(r *store.Rules) { r.Lease = shortLease })
}

// registration of a new connection of an extension.
func (f *fixture) registration(user, node string) store.Registration {
	f.Helper()
	info, err := store.NewInfo(&nodev1.NodeInfo{
		NodeId: node, NodeType: nodev1.NodeType_NODE_TYPE_EXTENSION, NodeName: "name of " + node, Os: "Linux", OsVersion: "6",
		AppVersion: "1.2", Capabilities: []string{"screenshot"}, AvailableTools: []string{"click", "type"}, MaxConcurrentTasks: 3,
	})
	if err != nil {
		f.Fatal(err)
	}
	return store.Registration{User: ids.UserID(user), Gateway: "gw-1", Info: info}
}

// register stores a new connection that must be let in, and returns its epoch.
func (f *fixture) register(s *store.Store, user, node string) ids.Epoch {
	f.Helper()
	r := s.Register(f.ctx, []store.Registration{f.registration(user, node)})[0]
	f.wantRegistered(r, registered, online)
	return r.Epoch
}

// registerAs registers a connection again, under its own epoch.
func (f *fixture) registerAs(s *store.Store, user, node string, epoch ids.Epoch) store.Registered {
	f.Helper()
	r := f.registration(user, node)
	r.Epoch = epoch
	return s.Register(f.ctx, []store.Registration{r})[0]
}

func (f *fixture) wantRegistered(r store.Registered, outcome nodev1.RegisterResult_Outcome, event nodev1.NodeEvent_Kind) {
	f.Helper()
	if r.Err != nil || r.Outcome != outcome || r.Event.GetKind() != event {
		f.Fatalf("got %v, event %v, error %v; want %v, event %v", r.Outcome, r.Event.GetKind(), r.Err, outcome, event)
	}
}

func (f *fixture) beat(s *store.Store, user, node string, epoch ids.Epoch) store.Beaten {
	f.Helper()
	b := s.Heartbeat(f.ctx, []store.Beat{{Node: nodeOf(user, node), Epoch: epoch}})[0]
	if b.Err != nil {
		f.Fatal(b.Err)
	}
	return b
}

func (f *fixture) wantBeat(s *store.Store, user, node string, epoch ids.Epoch, want nodev1.BeatResult) {
	f.Helper()
	if b := f.beat(s, user, node, epoch); b.Result != want {
		f.Fatalf("heartbeat of epoch %d: got %v, want %v", epoch, b.Result, want)
	}
}

func (f *fixture) deregister(s *store.Store, user, node string, epoch ids.Epoch) *nodev1.NodeEvent {
	f.Helper()
	d := s.Deregister(f.ctx, "gw-1", []store.Ref{{Node: nodeOf(user, node), Epoch: epoch}})[0]
	if d.Err != nil {
		f.Fatal(d.Err)
	}
	return d.Event
}

func (f *fixture) nodes(s *store.Store, user string) []*nodev1.Node {
	f.Helper()
	nodes, err := s.Nodes(f.ctx, ids.UserID(user))
	if err != nil {
		f.Fatal(err)
	}
	return nodes
}

func (f *fixture) nodesAndGone(s *store.Store, user string) []*nodev1.Node {
	f.Helper()
	nodes, err := s.NodesAndGone(f.ctx, ids.UserID(user))
	if err != nil {
		f.Fatal(err)
	}
	return nodes
}

// awaitExpiry waits until a user has no live node. The user's id needs no escaping.
func (f *fixture) awaitExpiry(s *store.Store, user string) {
	f.Helper()
	testkit.Eventually(f, 10*time.Second, func() bool {
		leases := f.client.ZRangeWithScores(f.ctx, "hecaton:{"+user+"}:nodes", -1, -1).Val()
		now := float64(f.client.Time(f.ctx).Val().UnixMilli())
		return len(f.nodes(s, user)) == 0 && len(leases) == 1 && leases[0].Score <= now
	}, "the nodes of %q expire", user)
}

func nodeOf(user, node string) ids.Node {
	return ids.Node{User: ids.UserID(user), Node: ids.NodeID(node)}
}

func names(nodes []*nodev1.Node) []string {
	got := []string{}
	for _, n := range nodes {
		got = append(got, n.GetInfo().GetNodeId())
	}
	return got
}

func numbered(name string, i int) string { return name + "-" + strconv.Itoa(i) }
