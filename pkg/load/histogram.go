package load

import (
	"math"
	"math/bits"
	"time"
)

const (
	// unit is the finest difference that is kept.
	unit = time.Microsecond
	// linear is how many parts a power of two has; below it, each unit is a bucket of its own.
	linear     = 128
	linearBits = 7
)

// Histogram counts durations in log-linear buckets: each power of two is divided into 128 equal parts, so that a quantile is
// at most 1/128 above the exact one, whatever its size. Its memory is bounded by the longest duration, not by how many there
// are. The zero value is empty. It is not safe for concurrent use.
type Histogram struct {
	counts []uint32
	total  uint64
	sum    time.Duration
	// min and max are exact.
	min, max time.Duration
}

// bucket returns the index of the bucket that holds v units.
func bucket(v uint64) int {
	if v < linear {
		return int(v)
	}
	shift := bits.Len64(v) - linearBits - 1
	return (shift+1)*linear + int(v>>shift) - linear
}

// upper returns the largest value that bucket i holds, in units.
func upper(i int) uint64 {
	if i < 2*linear {
		return uint64(i)
	}
	shift := i/linear - 1
	return (uint64(i%linear)+linear+1)<<shift - 1
}

// Add counts a duration; one below zero counts as zero.
func (h *Histogram) Add(d time.Duration) {
	d = max(d, 0)
	i := bucket(uint64(d / unit))
	if i >= len(h.counts) {
		h.counts = append(h.counts, make([]uint32, i+1-len(h.counts))...)
	}
	h.counts[i]++
	if h.total == 0 || d < h.min {
		h.min = d
	}
	h.max = max(h.max, d)
	h.total++
	h.sum += d
}

// Merge adds all that other counted.
func (h *Histogram) Merge(other *Histogram) {
	if other.total == 0 {
		return
	}
	if n := len(other.counts) - len(h.counts); n > 0 {
		h.counts = append(h.counts, make([]uint32, n)...)
	}
	for i, c := range other.counts {
		h.counts[i] += c
	}
	if h.total == 0 || other.min < h.min {
		h.min = other.min
	}
	h.max = max(h.max, other.max)
	h.total += other.total
	h.sum += other.sum
}

// Count is how many durations there are.
func (h *Histogram) Count() uint64 { return h.total }

// Max returns the longest duration, exactly; 0 where there is none.
func (h *Histogram) Max() time.Duration { return h.max }

// Mean returns the average, exactly; 0 where there is none.
func (h *Histogram) Mean() time.Duration {
	if h.total == 0 {
		return 0
	}
	return h.sum / time.Duration(h.total)
}

// Quantile returns a duration that the fraction q of all do not exceed (nearest rank), at most 1/128 and a microsecond
// too long; 0 where there is none.
func (h *Histogram) Quantile(q float64) time.Duration {
	if h.total == 0 {
		return 0
	}
	rank := min(max(uint64(math.Ceil(q*float64(h.total))), 1), h.total)
	seen := uint64(0)
	for i, c := range h.counts {
		if seen += uint64(c); seen >= rank {
			return max(min(time.Duration(upper(i)+1)*unit-1, h.max), h.min)
		}
	}
	return h.max
}
