package app_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/node-registry/app"
)

func TestMain(m *testing.M) { testkit.Main(m) }

const (
	registered = nodev1.RegisterResult_OUTCOME_REGISTERED
	tooMany    = nodev1.RegisterResult_OUTCOME_TOO_MANY_NODES
	superseded = nodev1.RegisterResult_OUTCOME_SUPERSEDED
	invalid    = nodev1.RegisterResult_OUTCOME_INVALID

	beatOK         = nodev1.BeatResult_BEAT_RESULT_OK
	beatUnknown    = nodev1.BeatResult_BEAT_RESULT_UNKNOWN
	beatSuperseded = nodev1.BeatResult_BEAT_RESULT_SUPERSEDED

	ready   = nodev1.NodeEvent_KIND_READY
	online  = nodev1.NodeEvent_KIND_ONLINE
	updated = nodev1.NodeEvent_KIND_UPDATED
	offline = nodev1.NodeEvent_KIND_OFFLINE

	extension = nodev1.NodeType_NODE_TYPE_EXTENSION
	desktop   = nodev1.NodeType_NODE_TYPE_DESKTOP
)

// shortLease is long enough for a test to act within it on a slow machine, and short enough to wait for its end.
const shortLease = 800 * time.Millisecond

// replica is one running registry and a client of it.
type replica struct {
	*app.App
	nodev1.NodeRegistryServiceClient
	conn *grpc.ClientConn
	stop func() // returns when Run has
}

// servers are what replicas share.
type servers struct{ redis, nats string }

// start runs a replica until the test ends.
func start(t testing.TB, s servers, change func(*app.Config)) *replica {
	t.Helper()
	cfg := app.Config{
		GRPCAddr: "127.0.0.1:0", AdminAddr: "127.0.0.1:0", RedisURL: config.Secret(s.redis), NATSURL: config.Secret(s.nats),
		// A test that wants sweeps says so.
		SweepEvery: time.Hour,
	}
	if err := config.Defaults(&cfg); err != nil {
		t.Fatal(err)
	}
	cfg.DrainDelay = 0 // its clients know that it stops
	if change != nil {
		change(&cfg)
	}
	a, err := app.New(cfg, app.Options{Logger: slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	select {
	case <-a.Started():
	case err := <-ended:
		cancel()
		t.Fatalf("the replica ended: %v", err)
	}
	r := &replica{App: a}
	stopped := false
	r.stop = func() {
		cancel()
		if !stopped {
			stopped = true
			if err := <-ended; err != nil {
				t.Errorf("the replica ended: %v", err)
			}
		}
	}
	t.Cleanup(r.stop)
	r.conn = dial(t, a.GRPCAddr())
	r.NodeRegistryServiceClient = nodev1.NewNodeRegistryServiceClient(r.conn)
	return r
}

func dial(t testing.TB, addr string, opts ...grpc.DialOption) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient(addr, append([]grpc.DialOption{grpc.WithTransportCredentials(insecure.NewCredentials())}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// replicas starts n of them.
func replicas(t testing.TB, s servers, n int, change func(*app.Config)) []*replica {
	t.Helper()
	var out []*replica
	for range n {
		out = append(out, start(t, s, change))
	}
	return out
}

// own starts a Redis and a NATS for one test.
func own(t testing.TB) servers {
	t.Helper()
	return servers{redis: testkit.OwnRedis(t).URL(), nats: testkit.NATS(t)}
}

func info(node string, kind nodev1.NodeType) *nodev1.NodeInfo {
	return &nodev1.NodeInfo{
		NodeId: node, NodeType: kind, NodeName: "name of " + node, Os: "Linux", AvailableTools: []string{"click", "type"},
		MaxConcurrentTasks: 3,
	}
}

func registration(user, node string, kind nodev1.NodeType) *nodev1.Registration {
	return &nodev1.Registration{UserId: user, Info: info(node, kind), GatewayId: "gw-1"}
}

// registerAll sends one batch.
func (r *replica) registerAll(t testing.TB, regs ...*nodev1.Registration) []*nodev1.RegisterResult {
	t.Helper()
	res, err := r.Register(t.Context(), &nodev1.RegisterRequest{Registrations: regs})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.GetResults()) != len(regs) {
		t.Fatalf("%d results for %d registrations", len(res.GetResults()), len(regs))
	}
	return res.GetResults()
}

// register lets an extension in, and returns its epoch.
func (r *replica) register(t testing.TB, user, node string) int64 {
	t.Helper()
	return r.registerAs(t, registration(user, node, extension))
}

func (r *replica) registerAs(t testing.TB, reg *nodev1.Registration) int64 {
	t.Helper()
	got := r.registerAll(t, reg)[0]
	if got.GetOutcome() != registered {
		t.Fatalf("register %v: %v", reg, got)
	}
	return got.GetEpoch()
}

func (r *replica) beat(t testing.TB, beats ...*nodev1.NodeBeat) []nodev1.BeatResult {
	t.Helper()
	res, err := r.Heartbeat(t.Context(), &nodev1.HeartbeatRequest{GatewayId: "gw-1", Beats: beats})
	if err != nil {
		t.Fatal(err)
	}
	return res.GetResults()
}

func (r *replica) deregister(t testing.TB, refs ...*nodev1.NodeRef) []bool {
	t.Helper()
	res, err := r.Deregister(t.Context(), &nodev1.DeregisterRequest{Nodes: refs})
	if err != nil {
		t.Fatal(err)
	}
	return res.GetRemoved()
}

func (r *replica) list(t testing.TB, user string) []string {
	t.Helper()
	res, err := r.ListNodes(t.Context(), &nodev1.ListNodesRequest{UserId: user})
	if err != nil {
		t.Fatal(err)
	}
	return names(res.GetNodes())
}

func names(nodes []*nodev1.Node) []string {
	out := []string{}
	for _, n := range nodes {
		out = append(out, n.GetInfo().GetNodeId())
	}
	return out
}

func numbered(name string, i int) string { return fmt.Sprintf("%s-%d", name, i) }

// wantUnavailable checks the error of a store or bus that is away.
func wantUnavailable(t testing.TB, err error) {
	t.Helper()
	if e := errs.FromGRPC(err); status.Code(err) != codes.Unavailable || !errs.Retryable(e) {
		t.Errorf("got %v, want UNAVAILABLE with a reason that is not delivered", e)
	}
}
