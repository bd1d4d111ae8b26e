package report

import (
	"math"
	"time"
)

// column is what one column of a chart shows: the worst of its seconds.
type column struct {
	p50, p99, max              time.Duration
	any                        bool // a call began in it
	answered, refused, unknown float64
	reconnected                int
}

// columns divides the seconds of a load among at most so many columns.
func (r *Report) columns(most int) (cols []column, perColumn int) {
	seconds := r.Timeline
	perColumn = max((len(seconds)+most-1)/most, 1)
	for at := 0; at < len(seconds); at += perColumn {
		part := seconds[at:min(at+perColumn, len(seconds))]
		var c column
		for _, s := range part {
			c.any = c.any || s.Begun > 0
			c.p50, c.p99, c.max = max(c.p50, time.Duration(s.P50)), max(c.p99, time.Duration(s.P99)), max(c.max, time.Duration(s.Max))
			share := 1 / float64(len(part))
			c.answered += float64(s.Answered) * share
			c.refused += float64(s.Refused) * share
			c.unknown += float64(s.Unknown) * share
			c.reconnected = max(c.reconnected, s.Reconnected)
		}
		cols = append(cols, c)
	}
	return cols, perColumn
}

// scale is a logarithmic one, between two powers of ten.
type scale struct{ low, high float64 } // exponents of seconds

// newScale returns one that has room for all that the columns show.
func newScale(cols []column) scale {
	least, most := time.Hour, time.Duration(0)
	for _, c := range cols {
		if c.any {
			least, most = min(least, max(c.p50, 10*time.Microsecond)), max(most, c.max)
		}
	}
	if most == 0 {
		return scale{-3, 0}
	}
	s := scale{math.Floor(math.Log10(least.Seconds())), math.Ceil(math.Log10(most.Seconds()))}
	if s.high <= s.low {
		s.high = s.low + 1
	}
	return s
}

// at is where a duration stands: 0 at the bottom, 1 at the top.
func (s scale) at(d time.Duration) float64 {
	if d <= 0 {
		return 0
	}
	return min(max((math.Log10(d.Seconds())-s.low)/(s.high-s.low), 0), 1)
}

// decades are the powers of ten that the scale has.
func (s scale) decades() (out []time.Duration) {
	for e := s.low; e <= s.high; e++ {
		out = append(out, time.Duration(math.Round(math.Pow(10, e)*1e9)))
	}
	return out
}

// decade writes a power of ten.
func decade(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return number(int(d/time.Microsecond)) + " µs"
	case d < time.Second:
		return number(int(d/time.Millisecond)) + " ms"
	}
	return number(int(d/time.Second)) + " s"
}

// label is how the nth fault is marked in a chart.
func label(n int) string {
	const labels = "123456789abcdefghijklmnopqrstuvwxyz"
	return string(labels[n%len(labels)])
}
