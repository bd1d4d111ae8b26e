package limits

import (
	"math"
	"time"
)

// rate is how fast a bucket fills, and how much it holds; perSecond 0 is no limit.
type rate struct{ perSecond, burst float64 }

func (r rate) none() bool { return r.perSecond == 0 }

// told is the amount from which the registry is told.
func (r rate) told() float64 { return max(1, r.burst/share) }

// bucket is one user's share of a rate in this pod.
type bucket struct {
	level float64 // what may still be taken; below 0 where more was
	at    int64   // when level was right, in ns
	// untold was taken since the registry heard of it.
	untold float64
}

func newBucket(r rate, now time.Time) bucket { return bucket{level: r.burst, at: now.UnixNano()} }

func (b *bucket) fill(r rate, now time.Time) {
	at := now.UnixNano()
	if d := time.Duration(at - b.at); d > 0 {
		b.level, b.at = min(r.burst, b.level+d.Seconds()*r.perSecond), at
	}
}

// has returns how long it takes until n are there; 0 where they are. b is filled.
func (b *bucket) has(n float64, r rate) time.Duration {
	if b.level >= n {
		return 0
	}
	return time.Duration(math.Ceil((n - b.level) / r.perSecond * float64(time.Second)))
}

// take takes n, also where there is less, and reports whether others should be told.
func (b *bucket) take(n float64, r rate) bool {
	b.level -= n
	b.untold += n
	return b.untold >= r.told()
}
