package drain

import (
	"errors"
	"math/rand/v2"
	"time"
)

// longestPause is how long a drain waits at most between two connections, on average. Twenty reconnections a second are no
// load, so a handful of connections need not take the whole spread.
const longestPause = 50 * time.Millisecond

// Pace says how fast connections are told to leave.
type Pace struct {
	// Spread is the time over which they are, where that is neither slower than twenty a second nor faster than Rate.
	Spread time.Duration
	// Rate is how many a second leave at most; 0 for no limit. The grace period wins over it.
	Rate int
	// Exact uses Spread as it is, however few connections there are: an operator asked for it.
	Exact bool
}

// Validate reports what cannot work.
func (p Pace) Validate() error {
	if p.Spread < 0 || p.Rate < 0 {
		return errors.New("drain-spread and drain-rate must not be negative")
	}
	return nil
}

// duration is how long n connections take.
func (p Pace) duration(n int) time.Duration {
	d := p.Spread
	if !p.Exact {
		d = min(d, time.Duration(n)*longestPause)
	}
	if p.Rate > 0 {
		d = max(d, time.Duration(n)*time.Second/time.Duration(p.Rate))
	}
	return d
}

// jitter returns between half and one and a half of d.
func jitter(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return d/2 + rand.N(d)
}
