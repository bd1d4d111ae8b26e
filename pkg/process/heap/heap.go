// Package heap sets the pace of garbage collection by a number of bytes instead of a percentage.
//
// Go's default lets the heap double between collections. For a pod with ten thousand idle connections that is 10 KiB of
// garbage for each of them; for one with few connections and large answers it is 4 MiB in all, so it collects fifty times
// a second. A fixed headroom is right for both.
package heap

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// Headroom is how much garbage may gather between two collections of a pod, in bytes: 1.6 KiB for each of ten thousand
// connections.
const Headroom = 16 << 20

const (
	leastPercent = 20
	mostPercent  = 1000
)

// KeepHeadroom adjusts the pace after each collection, so that about headroom bytes of garbage gather until the next. It
// is for main packages, since the pace is the process's, and does nothing where the environment sets GOGC.
func KeepHeadroom(headroom uint64) {
	if os.Getenv("GOGC") != "" {
		return
	}
	adjust(headroom)
	watch(headroom)
}

// watch runs adjust after the next collection, by the finalizer of an object that nothing refers to.
func watch(headroom uint64) {
	runtime.SetFinalizer(&sentinel{}, func(*sentinel) {
		adjust(headroom)
		watch(headroom)
	})
}

type sentinel struct{ _ [16]byte } // large enough not to share a block with others

func adjust(headroom uint64) { debug.SetGCPercent(percent(headroom, live())) }

// percent is the GOGC under which headroom bytes gather on top of live ones.
func percent(headroom, live uint64) int {
	return int(min(max(headroom*100/max(live, 1), leastPercent), mostPercent))
}

// live returns what the last collection found in use, stacks and globals included: GOGC is a percentage of it.
func live() uint64 {
	samples := []metrics.Sample{
		{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/stack:bytes"}, {Name: "/gc/scan/globals:bytes"},
	}
	metrics.Read(samples)
	var sum uint64
	for _, s := range samples {
		if s.Value.Kind() == metrics.KindUint64 {
			sum += s.Value.Uint64()
		}
	}
	return sum
}
