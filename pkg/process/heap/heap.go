// Package heap sets the pace of garbage collection by a number of bytes instead of a percentage.
//
// Go's default lets the heap double between collections. For a pod with ten thousand idle connections that is 10 KiB of
// garbage for each of them; for one with few connections and large answers it is 4 MiB in all, so it collects fifty times
// a second. A headroom in bytes is right for both while little happens.
//
// Under load it is too small: what lives is marked again for every few megabytes of garbage. So it doubles while collections
// follow each other quickly, and once none has come for some seconds it is what it was, and what it held goes back to the
// system.
package heap

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"
)

// Headroom is how much garbage may gather between two collections of a pod where little happens, in bytes: 1.6 KiB for each
// of ten thousand connections.
const Headroom = 16 << 20

const (
	// The headroom doubles after a collection that came sooner than often after the one before, and is halved after one that
	// came later than seldom.
	often  = 2 * time.Second
	seldom = 6 * time.Second
	// quiet is how long after the last collection a grown headroom is given up. It is longer than seldom: under a load that
	// stays the headroom shrinks step by step.
	quiet = 8 * time.Second
	// A headroom grows to what lives, which is Go's default; while it is below these bounds, to twice that, or to so many times
	// its least.
	grownBytes = 256 << 20
	grownTimes = 4

	leastPercent = 20
	// leastLive is what lives in any program; less is a heap that was not collected yet.
	leastLive = 1 << 20
)

// KeepHeadroom adjusts the pace after each collection, so that about headroom bytes of garbage gather until the next, or more
// under load. It is for main packages, since the pace is the process's, and does nothing where the environment sets GOGC.
func KeepHeadroom(headroom uint64) {
	if os.Getenv("GOGC") != "" {
		return
	}
	k := &keeper{pacer: pacer{least: headroom, headroom: headroom}}
	k.timer = time.AfterFunc(quiet, k.release)
	k.collected()
	k.watch()
}

// keeper sets the process's pace.
type keeper struct {
	mu sync.Mutex // guards all
	pacer
	timer *time.Timer
}

// watch runs collected after the next collection, by the finalizer of an object that nothing refers to.
func (k *keeper) watch() {
	runtime.SetFinalizer(&sentinel{}, func(*sentinel) {
		k.collected()
		k.watch()
	})
}

type sentinel struct{ _ [16]byte } // large enough not to share a block with others

func (k *keeper) collected() {
	k.mu.Lock()
	defer k.mu.Unlock()
	found := live()
	k.pacer.collected(time.Now(), found)
	debug.SetGCPercent(k.percent(found))
	if k.headroom > k.least {
		k.timer.Reset(quiet)
	}
}

// release gives up a headroom that nothing has filled for some time.
func (k *keeper) release() {
	k.mu.Lock()
	grown := k.headroom > k.least
	if grown {
		k.headroom, k.last = k.least, time.Time{}
		debug.SetGCPercent(k.percent(live()))
	}
	k.mu.Unlock()
	if grown {
		debug.FreeOSMemory()
	}
}

// pacer chooses a headroom.
type pacer struct {
	least    uint64    // the headroom where little happens
	headroom uint64    // the one there is
	last     time.Time // when the last collection ended; zero before the first, and after a rest
}

// collected takes note of a collection that found so much in use.
func (p *pacer) collected(now time.Time, live uint64) {
	since := now.Sub(p.last)
	switch {
	case p.last.IsZero():
	case since < often:
		p.headroom = min(2*p.headroom, max(live, min(2*live, grownBytes), grownTimes*p.least))
	case since > seldom:
		p.headroom /= 2
	}
	p.headroom = max(p.headroom, p.least)
	p.last = now
}

// percent is the GOGC under which the headroom gathers on top of live bytes.
func (p *pacer) percent(live uint64) int {
	return int(max(p.headroom*100/max(live, leastLive), leastPercent))
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
