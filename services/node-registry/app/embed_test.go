package app_test

import (
	"context"
	"slices"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/node-registry/app"
	"github.com/hecaton-dev/hecaton/services/node-registry/internal/registrytest"
)

// A program that embeds a registry hands over its own connections, and has them back.
func TestEmbedded(t *testing.T) {
	t.Parallel()
	redis := registrytest.Client(t, registrytest.Mini(t))
	nc, err := nats.Connect(testkit.NATS(t))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	cfg := app.Config{GRPCAddr: "127.0.0.1:0", AdminAddr: "127.0.0.1:0", RedisURL: "redis://127.0.0.1:1", NATSURL: "nats://127.0.0.1:1"}
	if err := config.Defaults(&cfg); err != nil {
		t.Fatal(err)
	}
	a, err := app.New(cfg, app.Options{Redis: redis, NATS: nc})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	<-a.Started()
	r := &replica{App: a, NodeRegistryServiceClient: nodev1.NewNodeRegistryServiceClient(dial(t, a.GRPCAddr()))}
	user := testkit.Prefix(t)
	w := r.watch(t, user)
	w.want(online, user, "ext", r.register(t, user, "ext"))
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if !nc.IsConnected() || redis.Ping(t.Context()).Err() != nil {
		t.Error("the connections were closed")
	}
}

// A batch of which some items cannot be stored is done in part; one of which none can has failed.
func TestPartialFailure(t *testing.T) {
	t.Parallel()
	s := own(t)
	redis := registrytest.Client(t, s.redis)
	r := start(t, s, nil)
	redis.Set(t.Context(), "hecaton:{broken}:nodes", "no zset", 0)
	redis.Set(t.Context(), "hecaton:{broken}:node:ext", "no hash", 0)
	bad, good := registration("broken", "ext", extension), registration("ana", "ext", extension)

	results := r.registerAll(t, bad, good)
	if got := results[0]; got.GetOutcome() != nodev1.RegisterResult_OUTCOME_UNSPECIFIED || got.GetError() == "" {
		t.Errorf("broken: %v", got)
	}
	if results[1].GetOutcome() != registered {
		t.Errorf("its neighbour: %v", results[1])
	}
	badBeat := &nodev1.NodeBeat{UserId: "broken", NodeId: "ext", Epoch: 1}
	beats := r.beat(t, badBeat, &nodev1.NodeBeat{UserId: "ana", NodeId: "ext", Epoch: results[1].GetEpoch()})
	if !slices.Equal(beats, []nodev1.BeatResult{nodev1.BeatResult_BEAT_RESULT_UNSPECIFIED, beatOK}) {
		t.Errorf("heartbeats: %v", beats)
	}
	if _, err := r.Register(t.Context(), &nodev1.RegisterRequest{Registrations: []*nodev1.Registration{bad}}); err == nil {
		t.Error("a batch of which nothing was stored succeeded")
	}
	refs := []*nodev1.NodeRef{{UserId: "broken", NodeId: "ext", Epoch: 1}, {UserId: "ana", NodeId: "ext", Epoch: results[1].GetEpoch()}}
	if _, err := r.Deregister(t.Context(), &nodev1.DeregisterRequest{Nodes: refs}); err == nil {
		t.Error("a removal that failed was reported as none")
	}
	if got := r.list(t, "ana"); len(got) != 0 {
		t.Errorf("the neighbour was not removed: %v", got)
	}
}
