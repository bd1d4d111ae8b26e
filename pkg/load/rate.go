package load

import "time"

// Due returns when the nth call is due, of so many a second whose first one, n = 0, is due at start. A latency that counts
// from then has the wait for a slow caller in it: a cluster that stands still is not asked less, and does not look better for
// it (coordinated omission).
func Due(start time.Time, perSecond float64, n int64) time.Time {
	return start.Add(time.Duration(float64(n) / perSecond * float64(time.Second)))
}
