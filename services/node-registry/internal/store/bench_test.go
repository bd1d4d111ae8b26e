package store_test

import (
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/node-registry/internal/registrytest"
	"github.com/hecaton-dev/hecaton/services/node-registry/internal/store"
)

// benchBatch is how many nodes the benchmarks have: those of one busy gateway.
const benchBatch = 10_000

// benchEach runs a benchmark on a server and on the Redis of the embedded cluster.
func benchEach(b *testing.B, bench func(b *testing.B, s *store.Store)) {
	for name, start := range map[string]func(testing.TB) string{
		"redis":     func(t testing.TB) string { return testkit.OwnRedis(t).URL() },
		"miniredis": registrytest.Mini,
	} {
		b.Run(name, func(b *testing.B) {
			bench(b, registrytest.Store(b, start(b), store.DefaultRules))
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/benchBatch, "µs/node")
		})
	}
}

func benchRegistrations(b *testing.B) []store.Registration {
	b.Helper()
	regs := make([]store.Registration, benchBatch)
	for i := range regs {
		info, err := store.NewInfo(&nodev1.NodeInfo{
			NodeId: "ext_user", NodeType: nodev1.NodeType_NODE_TYPE_EXTENSION, NodeName: "Chrome Extension", Os: "Linux",
			AppVersion: "1.0.0", Capabilities: []string{"browser_control", "screenshot"},
			AvailableTools: []string{"click", "type", "screenshot", "navigate"}, MaxConcurrentTasks: 3,
		})
		if err != nil {
			b.Fatal(err)
		}
		regs[i] = store.Registration{User: ids.UserID(numbered("user", i)), Gateway: "gw-1", Info: info}
	}
	return regs
}

// BenchmarkRegister registers the nodes of one gateway again, in one batch.
func BenchmarkRegister(b *testing.B) {
	benchEach(b, func(b *testing.B, s *store.Store) {
		regs := benchRegistrations(b)
		for b.Loop() {
			for _, r := range s.Register(b.Context(), regs) {
				if r.Err != nil {
					b.Fatal(r.Err)
				}
			}
		}
	})
}

// BenchmarkHeartbeat renews the nodes of one gateway in one batch.
func BenchmarkHeartbeat(b *testing.B) {
	benchEach(b, func(b *testing.B, s *store.Store) {
		beats := make([]store.Beat, benchBatch)
		for i, r := range s.Register(b.Context(), benchRegistrations(b)) {
			beats[i] = store.Beat{Node: nodeOf(numbered("user", i), "ext_user"), Epoch: r.Epoch}
		}
		for b.Loop() {
			for _, r := range s.Heartbeat(b.Context(), beats) {
				if r.Err != nil || r.Result != beatOK {
					b.Fatal(r)
				}
			}
		}
	})
}
