package heap

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
)

func TestPercent(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		live uint64
		want int
	}{{0, 3200}, {1 << 20, 3200}, {32 << 20, 100}, {64 << 20, 50}, {10 << 30, leastPercent}} {
		p := pacer{least: 32 << 20, headroom: 32 << 20}
		if got := p.percent(test.live); got != test.want {
			t.Errorf("%d MiB live: %d %%, want %d %%", test.live>>20, got, test.want)
		}
	}
}

// Under load the headroom grows to twice what lives, and shrinks as the load does.
func TestTheHeadroomFollowsTheLoad(t *testing.T) {
	t.Parallel()
	p := pacer{least: 16 << 20, headroom: 16 << 20}
	const live = 100 << 20
	now := time.Now()
	for i, step := range []struct {
		after time.Duration
		want  uint64 // MiB
	}{
		{time.Second, 16}, {time.Second, 32}, {time.Second, 64}, {time.Second, 128}, {time.Second, 200}, {time.Second, 200},
		{4 * time.Second, 200}, {7 * time.Second, 100}, {7 * time.Second, 50}, {7 * time.Second, 25}, {time.Hour, 16}, {time.Hour, 16},
	} {
		now = now.Add(step.after)
		if p.collected(now, live); p.headroom>>20 != step.want {
			t.Errorf("step %d: %d MiB, want %d", i, p.headroom>>20, step.want)
		}
	}
}

// Beyond some size it does not pass Go's default.
func TestALargeHeapGrowsAsGoHasIt(t *testing.T) {
	t.Parallel()
	p := pacer{least: 16 << 20, headroom: 16 << 20}
	now := time.Now()
	for range 10 {
		now = now.Add(time.Millisecond)
		p.collected(now, 300<<20)
	}
	if p.headroom != 300<<20 {
		t.Errorf("%d MiB", p.headroom>>20)
	}
}

// What lives may be little: then garbage is what there is.
func TestTheHeadroomGrowsWhereLittleLives(t *testing.T) {
	t.Parallel()
	p := pacer{least: 16 << 20, headroom: 16 << 20}
	now := time.Now()
	for range 10 {
		now = now.Add(time.Millisecond)
		p.collected(now, 4<<20)
	}
	if p.headroom != 64<<20 {
		t.Errorf("%d MiB", p.headroom>>20)
	}
}

// TestARestGivesTheHeadroomBack is not parallel: the pace is the process's.
func TestARestGivesTheHeadroomBack(t *testing.T) {
	before := debug.SetGCPercent(100)
	t.Cleanup(func() { debug.SetGCPercent(before) })
	k := &keeper{pacer: pacer{least: 16 << 20, headroom: 64 << 20}}
	garbage(48 << 20)
	k.release()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if held := m.HeapInuse + m.HeapIdle - m.HeapReleased; k.headroom != k.least || held > 32<<20 {
		t.Errorf("a headroom of %d MiB, %d MiB held", k.headroom>>20, held>>20)
	}
}

var sink []byte

func garbage(bytes int) {
	for range bytes >> 20 {
		sink = make([]byte, 1<<20)
	}
	sink = nil
}

// TestThePaceFollowsTheHeap is not parallel: the pace is the process's.
func TestThePaceFollowsTheHeap(t *testing.T) {
	t.Setenv("GOGC", "")
	before := debug.SetGCPercent(100)
	t.Cleanup(func() { debug.SetGCPercent(before) })
	KeepHeadroom(32 << 20)
	pace := func() int { // reading is setting
		p := debug.SetGCPercent(77)
		debug.SetGCPercent(p)
		return p
	}
	large := func() {
		ballast := make([]byte, 300<<20)
		testkit.Eventually(t, 10*time.Second, func() bool { runtime.GC(); return pace() <= 100 && pace() > 90 }, "a large heap that is collected often doubles")
		runtime.KeepAlive(ballast)
	}
	large()
	testkit.Eventually(t, 10*time.Second, func() bool { runtime.GC(); return pace() > 200 }, "a small heap is collected late")
}

func TestGOGCWins(t *testing.T) {
	t.Setenv("GOGC", "100")
	before := debug.SetGCPercent(55)
	t.Cleanup(func() { debug.SetGCPercent(before) })
	KeepHeadroom(1)
	if now := debug.SetGCPercent(55); now != 55 {
		t.Errorf("the pace became %d %%", now)
	}
}
