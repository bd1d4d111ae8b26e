package app_test

import (
	"testing"

	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
)

// benchBatch is how many nodes the benchmarks have: those of one busy gateway, in one request.
const benchBatch = 10_000

func benchRegistrations() []*nodev1.Registration {
	regs := make([]*nodev1.Registration, benchBatch)
	for i := range regs {
		regs[i] = registration(numbered("user", i), "ext_user", extension)
	}
	return regs
}

func BenchmarkRegister(b *testing.B) {
	r := start(b, own(b), nil)
	regs := benchRegistrations()
	for b.Loop() {
		r.registerAll(b, regs...)
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/benchBatch, "µs/node")
}

func BenchmarkHeartbeat(b *testing.B) {
	r := start(b, own(b), nil)
	beats := make([]*nodev1.NodeBeat, benchBatch)
	for i, res := range r.registerAll(b, benchRegistrations()...) {
		beats[i] = &nodev1.NodeBeat{UserId: numbered("user", i), NodeId: "ext_user", Epoch: res.GetEpoch()}
	}
	for b.Loop() {
		r.beat(b, beats...)
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/benchBatch, "µs/node")
}

// BenchmarkResolve picks the node of a session that is bound, from many callers at once.
func BenchmarkResolve(b *testing.B) {
	r := start(b, own(b), nil)
	r.register(b, "ana", "ext")
	req := &nodev1.ResolveNodeRequest{UserId: "ana", SessionId: "s"}
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if res, err := r.ResolveNode(b.Context(), req); err != nil || res.GetNodeId() != "ext" {
				b.Error(res, err)
			}
		}
	})
}
