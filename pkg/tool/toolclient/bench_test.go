package toolclient_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/tool/toolclient"
)

// BenchmarkCall measures one call after the other, and 64 at a time, against a gateway in the same process.
func BenchmarkCall(b *testing.B) {
	for _, size := range []int{200, 200 << 10} {
		result := `"` + strings.Repeat("x", size) + `"`
		g := serve(b, "gw", func(r *received) { r.answer(result) })
		c := dial(b, toolclient.Patience{}, g)
		b.Run(fmt.Sprintf("%dB/c=1", size), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Call(b.Context(), call("x")); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("%dB/c=64", size), func(b *testing.B) {
			b.ReportAllocs()
			b.SetParallelism(32)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if _, err := c.Call(b.Context(), call("x")); err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	}
}
