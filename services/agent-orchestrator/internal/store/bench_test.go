package store_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store/storetest"
)

// What the hot path costs: a beginning, a piece of text, of one run and of many, and a step with a message and a call.
func BenchmarkStore(b *testing.B) {
	for name, url := range map[string]func(testing.TB) string{"sqlite": storetest.SQLite, "postgres": testkit.Postgres} {
		b.Run(name, func(b *testing.B) {
			s := storetest.At(b, url(b))
			n := 0
			fresh := func(b *testing.B) store.Lease {
				n++
				begin := beginning(fmt.Sprint("run_", n))
				begin.Session = session(n)
				l, _, err := s.Begin(b.Context(), begin)
				if err != nil {
					b.Fatal(err)
				}
				return l
			}
			b.Run("begin", func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					fresh(b)
				}
			})
			b.Run("text", func(b *testing.B) {
				b.ReportAllocs()
				l, seq := fresh(b), int64(0)
				for b.Loop() {
					seq++
					if err := s.Commit(b.Context(), l, store.Change{Events: texts(l, seq, "some text")}); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run("text of many runs at once", func(b *testing.B) {
				b.SetParallelism(50)
				leases := make(chan store.Lease, 50*runtime.GOMAXPROCS(0))
				for range cap(leases) {
					leases <- fresh(b)
				}
				b.ResetTimer()
				b.RunParallel(func(p *testing.PB) {
					l, seq := <-leases, int64(0)
					for p.Next() {
						seq++
						if err := s.Commit(b.Context(), l, store.Change{Events: texts(l, seq, "some text")}); err != nil {
							b.Error(err)
							return
						}
					}
				})
			})
			b.Run("step", func(b *testing.B) {
				b.ReportAllocs()
				l, seq := fresh(b), int64(0)
				for b.Loop() {
					seq++
					if err := s.Commit(b.Context(), l, store.Change{
						Events:   texts(l, seq, "some text"),
						Messages: []store.Message{{Index: int(seq) + 1, Role: "assistant", Content: "some text"}},
						Calls:    []store.Call{{ID: fmt.Sprint(seq), State: store.Started, Args: []byte("{}")}},
					}); err != nil {
						b.Fatal(err)
					}
				}
			})
		})
	}
}
