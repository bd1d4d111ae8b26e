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
	}{{0, mostPercent}, {1 << 20, mostPercent}, {32 << 20, 100}, {64 << 20, 50}, {10 << 30, leastPercent}} {
		if got := percent(32<<20, test.live); got != test.want {
			t.Errorf("%d MiB live: %d %%, want %d %%", test.live>>20, got, test.want)
		}
	}
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
		ballast := make([]byte, 256<<20)
		testkit.Eventually(t, 10*time.Second, func() bool { runtime.GC(); return pace() == leastPercent }, "a large heap is collected early")
		runtime.KeepAlive(ballast)
	}
	large()
	testkit.Eventually(t, 10*time.Second, func() bool { runtime.GC(); return pace() > 100 }, "a small heap is collected late")
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
