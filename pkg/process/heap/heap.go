// Package heap sets the pace of garbage collection by a number of bytes instead of a percentage.
//
// Go's default lets the heap double between collections. For a pod with ten thousand idle connections that is 10 KiB of
// garbage for each of them; for one with few connections and large answers it is 4 MiB in all, so it collects fifty times
// a second. A fixed headroom is right for both while they are idle. Under load it is too small for the first, which then marks
// its connections again and again; so the headroom doubles while collecting takes more than a tenth of the CPU, up to what
// Go would take, and shrinks again afterwards.
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
	grownPercent = 100 // the most for which a headroom grows: Go's default

	// Shares of collecting in the CPU that the program used since the collection before.
	growShare   = 0.10
	shrinkShare = 0.04
)

// KeepHeadroom adjusts the pace after each collection, so that about headroom bytes of garbage gather until the next, or more
// under load. It is for main packages, since the pace is the process's, and does nothing where the environment sets GOGC.
func KeepHeadroom(headroom uint64) {
	if os.Getenv("GOGC") != "" {
		return
	}
	p := &pacer{headroom: headroom, factor: 1}
	p.adjust()
	watch(p)
}

// watch runs adjust after the next collection, by the finalizer of an object that nothing refers to.
func watch(p *pacer) {
	runtime.SetFinalizer(&sentinel{}, func(*sentinel) {
		p.adjust()
		watch(p)
	})
}

type sentinel struct{ _ [16]byte } // large enough not to share a block with others

// pacer chooses GOGC. It belongs to the goroutine of finalizers.
type pacer struct {
	headroom uint64
	factor   uint64 // by which the headroom has grown
	last     usage
}

func (p *pacer) adjust() {
	now := measure()
	debug.SetGCPercent(p.percent(now))
	p.last = now
}

// percent is the GOGC under which the headroom gathers on top of live bytes.
func (p *pacer) percent(now usage) int {
	collecting, working := now.collecting-p.last.collecting, now.working-p.last.working
	switch share := collecting / max(collecting+working, 1e-9); {
	case share > growShare && p.headroom*p.factor < now.live:
		p.factor *= 2
	case share < shrinkShare:
		p.factor = max(p.factor/2, 1)
	}
	most := uint64(mostPercent)
	if p.factor > 1 {
		most = grownPercent
	}
	return int(min(max(p.headroom*p.factor*100/max(now.live, 1), leastPercent), most))
}

// usage is what the process has used so far.
type usage struct {
	live                uint64  // bytes that the last collection found in use, stacks and globals included: GOGC is a percentage of it
	collecting, working float64 // seconds of CPU
}

func measure() usage {
	samples := []metrics.Sample{
		{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/stack:bytes"}, {Name: "/gc/scan/globals:bytes"},
		{Name: "/cpu/classes/gc/total:cpu-seconds"}, {Name: "/cpu/classes/user:cpu-seconds"},
	}
	metrics.Read(samples)
	var u usage
	for _, s := range samples[:3] {
		if s.Value.Kind() == metrics.KindUint64 {
			u.live += s.Value.Uint64()
		}
	}
	for i, seconds := range []*float64{&u.collecting, &u.working} {
		if s := samples[3+i]; s.Value.Kind() == metrics.KindFloat64 {
			*seconds = s.Value.Float64()
		}
	}
	return u
}
